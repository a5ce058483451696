"""Each end of a program says what it changed, and no advice, when it is followed, writes twice."""

from __future__ import annotations

import pytest

from drf_mcp.contrib.compose.models import KeptProgram
from example_project.shop.models import Customer, Ticket
from example_project.shop.serializers import TicketSerializer

pytestmark = pytest.mark.django_db

MADE = 'ticket = tickets_create(customer=1, subject="Refund?", body="When?")\n'
# Each with what follows a ticket, and the corrected line.
ENDS = {
    "an error": ('ticket["number"]', 'ticket["id"]'),
    "a refused call": ("customers_retrieve(id=0)", "ticket['id']"),
    "refused values": ("orders_create(customer=1, lines=[])", "1"),
    "a result that is no JSON": ("float('nan')", "1"),
    "the limit of calls": ("for i in range(9):\n    customers_list(page=1)", "1"),
    "the limit of time": ("while True:\n    pass", "1"),
    "an exception of its own": ("raise ValueError('enough')", "1"),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_failure_names_what_was_changed_and_goes_on_without_a_second_write(staff, configure, end):
    configure(COMPOSE_LIMITS={"calls": 3, "seconds": 1})
    before, (rest, corrected) = Ticket.objects.count(), ENDS[end]
    failed = staff.run(MADE + rest)
    assert failed.is_error
    [change] = failed.data["changed"]
    assert change["object"] == {"id": Ticket.objects.latest("pk").pk}
    assert "What was changed before stays: tickets_create (1)." in failed.envelope["error"]
    assert "send it again" not in str(failed.envelope)
    again = staff.resume(failed, program=MADE + corrected)
    assert not again.is_error, again.envelope
    assert Ticket.objects.count() == before + 1


def test_without_changes_the_advice_is_to_send_the_corrected_program(staff):
    failed = staff.run("1 / 0")
    assert failed.data["remediation"] == "Correct the program, and send it again."
    assert KeptProgram.objects.count() == 0


@pytest.mark.parametrize(
    "program", ["x = 2\n", "x = 1\nx += 1\n", "x: int = 2\n", "result = 2\nif x := 0:\n    pass\n"]
)
def test_a_last_line_without_a_value_gives_what_was_assigned(staff, program):
    assert staff.value(program) == 2


def test_an_assigned_write_gives_its_value_and_says_what_was_made(staff):
    result = staff.run(MADE)
    assert result.data["result"]["id"] == Ticket.objects.latest("pk").pk
    [change] = result.data["changed"]
    assert change == {"tool": "tickets_create", "object": {"id": result.data["result"]["id"]}}


def test_a_silent_end_after_a_write_goes_on_by_resume(staff):
    before = Ticket.objects.count()
    silent = staff.run(f"for i in [1]:\n    {MADE}")
    assert silent.data["result"] is None
    assert "end the program with" not in str(silent.envelope)
    again = staff.resume(silent, program=f"for i in [1]:\n    {MADE}ticket['subject']")
    assert again.data["result"] == "Refund?"
    assert Ticket.objects.count() == before + 1


def test_a_long_result_is_kept_with_what_was_changed(staff, configure):
    configure(MAX_RESULT_TOKENS=1000)
    result = staff.run(f"{MADE}[str(n) * 20 for n in range(400)]")
    assert {"kept", "changed"} <= result.data.keys()


def test_a_program_beyond_its_limit_of_calls_goes_on_with_the_same(staff, configure):
    configure(COMPOSE_LIMITS={"calls": 2})
    before = Ticket.objects.count()
    failed = staff.run(f"for i in range(4):\n    {MADE}i")
    assert len(failed.data["changed"]) == 2
    assert staff.resume(failed).data["result"] == 3
    assert Ticket.objects.count() == before + 4


def test_a_call_that_differs_from_the_record_is_refused_by_name(staff):
    failed = staff.run(f"{MADE}1 / 0")
    before = Ticket.objects.count()
    other = MADE.replace("Refund?", "Other")
    refused = staff.resume(failed, program=f"{other}1")
    assert refused.code == "CONFLICT"
    error = refused.envelope["error"]
    assert "Call 1 was tickets_create(customer=1, subject='Refund?'" in error
    assert "is tickets_create(customer=1, subject='Other'" in error
    # The record is still there, under another id.
    assert staff.resume(refused, program=f"{MADE}1").data["result"] == 1
    assert Ticket.objects.count() == before


def test_reads_after_the_last_change_are_made_anew(staff):
    failed = staff.run(f"{MADE}customers_list(page=1)\n1 / 0")
    again = staff.resume(failed, program=f"{MADE}len(customers_list())")
    assert again.data["result"] == Customer.objects.count()


def test_a_record_belongs_to_its_endpoint(staff, composer_of, configure):
    configure(COMPOSE="writes")
    failed = staff.run(f"{MADE}1 / 0")
    assert composer_of("carol", "/mcp").resume(failed).code == "NOT_FOUND"
    assert staff.resume(failed, program=f"{MADE}1").data["result"] == 1


def test_a_write_that_fails_halfway_is_named_and_not_repeated(staff, monkeypatch):
    calls = []

    def fail(self, validated):
        calls.append(validated)
        raise RuntimeError

    monkeypatch.setattr(TicketSerializer, "create", fail)
    staff.http.raise_request_exception = False
    failed = staff.run(MADE)
    [change] = failed.data["changed"]
    assert change["uncertain"] is True
    assert "Look whether tickets_create changed something" in failed.envelope["error"]
    caught = f"try:\n    {MADE}except ToolError:\n    pass\n1"
    assert staff.resume(failed, program=caught).data["result"] == 1
    assert len(calls) == 1
