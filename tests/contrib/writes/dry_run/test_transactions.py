"""No database keeps a change of a dry run, and code that a rollback cannot undo is refused."""

from __future__ import annotations

import contextlib

import pytest
from django.contrib.auth.models import Group, User
from django.core import mail
from django.core.cache import cache
from django.db import DEFAULT_DB_ALIAS, IntegrityError, connection, connections, transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from drf_mcp import call_context
from drf_mcp.exceptions import Conflict, SoftFailure
from drf_mcp.test.parity import observe_effects

NOTE = {"note": "Dry run: nothing was changed."}


def refusal(result):
    assert (result.is_error, result.code) == (True, "VALIDATION_ERROR")
    assert result.data["details"]["field"] == "dry_run"
    assert result.data["details"]["constraint"] == "dry_run_unavailable"
    assert result.envelope["meta"]["dry_run"] == NOTE
    return result.envelope["error"]


def test_a_true_argument_makes_no_change_and_a_false_one_or_none_makes_it(agent, do):
    """Any other value is refused. The view can read the argument."""
    for number, value in enumerate([True, "true", "True", False, "false", None], -2):
        assert not agent.call("groups_create", name=f"{value}", dry_run=value).is_error
        assert Group.objects.count() == max(number, 0), value
    for value in ("yes", 2, [], {"dry_run": True}, ""):
        result = agent.call("groups_create", name="writers", dry_run=value)
        assert result.problems[0]["pointer"] == "/dry_run", value
    assert Group.objects.count() == 3
    do(lambda request: {"dry_run": call_context(request).dry_run})
    assert agent.call("deed", dry_run=True).data == {"dry_run": True}
    result = agent.call("deed")
    assert result.data == {"dry_run": False}
    assert "dry_run" not in result.envelope["meta"]


def test_over_http_there_is_no_dry_run(agent, do):
    do(lambda request: {"dry_run": call_context(request).dry_run, "sent": request.data})
    answer = agent.http.post("/deed/", {"dry_run": True}, "application/json")
    assert answer.json() == {"dry_run": False, "sent": {"dry_run": True}}


def test_callbacks_after_the_commit_never_run(agent, do, django_capture_on_commit_callbacks):
    do(lambda request: transaction.on_commit(lambda: mail.send_mail("", "", "", ["a@b.example"])))
    with django_capture_on_commit_callbacks(execute=True) as callbacks:
        agent.call("deed", dry_run=True)
    assert (callbacks, mail.outbox) == ([], [])


def test_asynchronous_and_decorated_views_have_dry_runs(rehearse):
    for tool in ("asynchronous", "wrapped"):
        assert rehearse(lambda request: Group.objects.create(name="a").name, tool) == NOTE
        assert not Group.objects.exists()


def test_the_writes_of_call_middleware_are_rolled_back(configure, do):
    agent = configure(CALL_MIDDLEWARE=["tests.contrib.writes.dry_run.views.make_trace"])
    result = agent.call("groups_create", name="a", dry_run=True)
    assert result.envelope["meta"]["dry_run"] == NOTE
    assert not Group.objects.exists()


def test_a_second_database_keeps_nothing_and_is_restored(second, agent, do):
    ran = []

    def deed(request):
        transaction.on_commit(lambda: ran.append("committed"), using="second")
        with transaction.atomic(using="second"):
            Group.objects.create(name="a")
        User.objects.create(username="ada")

    do(deed)
    assert agent.call("deed", dry_run=True).envelope["meta"]["dry_run"] == NOTE
    assert (Group.objects.count(), ran) == (0, [])
    assert not User.objects.filter(username="ada").exists()
    assert not second.in_atomic_block
    assert (second.execute_wrappers, second.get_autocommit()) == ([], True)
    agent.call("deed")
    assert (Group.objects.count(), ran) == (1, ["committed"])


def test_a_write_to_a_database_that_no_router_names_is_refused(second, settings, agent, do):
    """Also where the view suppresses the error."""
    settings.DATABASE_ROUTERS = []

    def deed(request):
        Group.objects.create(name="here")
        Group.objects.using("second").create(name="there")

    def answer(request):
        with contextlib.suppress(Exception):
            deed(request)
        return "done"

    for each in (deed, answer):
        do(each)
        assert "no router names" in refusal(agent.call("deed", dry_run=True))
        assert not Group.objects.exists()
        assert not Group.objects.using("second").exists()


def test_a_view_outside_transactions_is_refused_before_it_runs(agent, do):
    ran = []
    do(lambda request: ran.append("ran"))
    message = refusal(agent.call("unbound", dry_run=True))
    assert "non_atomic_requests" in message
    assert "Nothing was run" in message
    assert ran == []


def test_a_durable_block_is_refused_before_it_runs(second, agent, do, caplog, reported):
    ran = []

    def deed(request):
        Group.objects.create(name="before")
        with transaction.atomic(using="second", durable=True):
            ran.append("durable")

    do(deed)
    assert "durable" in refusal(agent.call("deed", dry_run=True))
    assert (ran, Group.objects.count(), reported) == ([], 0, [])
    assert "failed" not in caplog.text


def test_a_view_that_ends_its_transaction_is_refused(agent, do):
    """The statement that would end the transaction is not sent."""

    statements = ("COMMIT", "ROLLBACK", "/* now */ commit", "BEGIN")
    runs = [lambda sql=sql: connection.cursor().execute(sql) for sql in statements]
    for end in (transaction.commit, transaction.rollback, *runs):

        def deed(request, end=end):
            Group.objects.create(name="before")
            end()

        do(deed)
        assert "ends transactions itself" in refusal(agent.call("deed", dry_run=True))
        assert not Group.objects.exists()


def test_tables_are_not_changed_where_that_would_commit(agent, do, monkeypatch):
    monkeypatch.setattr(connection.features, "can_rollback_ddl", False)
    do(lambda request: connection.cursor().execute("CREATE TABLE hidden_ledger (id integer)") and 1)
    assert "changes tables" in refusal(agent.call("deed", dry_run=True))
    assert "hidden_ledger" not in connection.introspection.table_names()


def test_a_database_without_transactions_is_refused_before_anything_runs(agent, do, monkeypatch):
    ran = []
    do(lambda request: ran.append("ran"))
    # The patch ends with the call, because the test itself ends with a rollback.
    with monkeypatch.context() as patch:
        patch.setattr(connection.features, "supports_transactions", False)
        result = agent.call("deed", dry_run=True)
    assert "has no transactions" in refusal(result)
    assert ran == []


def test_a_foreign_key_that_leads_nowhere_fails_as_the_commit_would(agent, do):
    def deed(request):
        User.objects.get(username="alice").groups.through.objects.create(user_id=1, group_id=10**6)

    do(deed)
    result = agent.call("deed", dry_run=True)
    # The driver of SQLite does not say which constraint it is.
    code = "INTERNAL_ERROR" if connection.vendor == "sqlite" else "CONFLICT"
    assert (result.is_error, result.code) == (True, code)
    assert result.envelope["meta"]["dry_run"] == NOTE


def test_an_error_of_the_database_is_an_error_of_the_dry_run(agent, group):
    result = agent.call("groups_create", name="readers", dry_run=True)
    assert (result.is_error, result.envelope["meta"]["dry_run"]) == (True, NOTE)
    assert Group.objects.count() == 1


def test_a_failure_has_its_usual_code_and_the_note(agent, do):
    """Exceptions, a soft failure, data that cannot be encoded, and missing arguments."""
    for raised, code in (
        (Conflict("No."), "CONFLICT"),
        (RuntimeError("No."), "INTERNAL_ERROR"),
        (IntegrityError("No."), "INTERNAL_ERROR"),
    ):

        def deed(request, raised=raised):
            Group.objects.create(name="a")
            raise raised

        do(deed)
        result = agent.call("deed", dry_run=True)
        assert (result.code, result.envelope["meta"]["dry_run"]) == (code, NOTE)
        assert not Group.objects.exists()

    def soft(request):
        raise SoftFailure("Nearly.", data=Group.objects.values("name"))

    do(soft)
    result = agent.call("deed", dry_run=True)
    assert (result.is_error, result.envelope["success"]) == (False, False)
    assert result.envelope["meta"]["dry_run"] == NOTE
    do(lambda request: object())
    assert agent.call("deed", dry_run=True).envelope["meta"]["dry_run"] == NOTE
    result = agent.call("groups_create", dry_run=True)
    assert (result.code, result.envelope["meta"]["dry_run"]) == ("MISSING_REQUIRED", NOTE)


def test_throttles_count_the_call_and_not_its_reads(configure, group):
    """The throttles of the view, and the throttles of the endpoint."""
    agent = configure()
    calls = [
        agent.call("throttled_partial_update", pk=group.pk, name="b", dry_run=True)
        for _ in range(4)
    ]
    assert [call.is_error for call in calls] == [False, False, False, True]
    assert calls[3].code == "RATE_LIMIT_EXCEEDED"
    cache.clear()
    agent = configure(THROTTLE_CLASSES=["tests.contrib.writes.dry_run.views.ThreeAMinute"])
    codes = [agent.call("groups_create", name="a", dry_run=True).is_error for _ in range(4)]
    assert codes == [False, False, False, True]


DEEDS = {
    "create": lambda: Group.objects.create(name=f"new {Group.objects.count()}"),
    "rename": lambda: [rename(group) for group in Group.objects.all()],
    "delete": lambda: Group.objects.filter(name__startswith="new").delete(),
    "inner": lambda: inner_rollback(),
    "user": lambda: User.objects.filter(username="alice").update(first_name="A"),
}


def rename(group) -> None:
    group.name = f"{group.name}!"
    group.save()


def inner_rollback() -> None:
    with transaction.atomic():
        Group.objects.create(name="never")
        transaction.set_rollback(True)


@pytest.mark.slow
@settings(max_examples=max(5, settings.default.max_examples // 3))
@given(st.lists(st.sampled_from(sorted(DEEDS)), max_size=6))
def test_no_row_differs_after_any_order_of_deeds(agent, do, group, deeds):
    before = observe_effects()
    do(lambda request: [DEEDS[name]() for name in deeds] and None)
    result = agent.call("deed", dry_run=True)
    assert not result.is_error
    assert observe_effects() == before
    assert connections[DEFAULT_DB_ALIAS].needs_rollback is False
