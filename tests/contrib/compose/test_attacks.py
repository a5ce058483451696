"""Programs that try to exceed the rights of their caller or the limits of the machine."""

from __future__ import annotations

import itertools
import time
from types import SimpleNamespace

import pytest
from rest_framework.authtoken.models import Token

from drf_mcp.contrib.compose.models import KeptProgram
from drf_mcp.contrib.compose.sandbox import queue
from drf_mcp.exceptions import Unavailable
from drf_mcp.exposure import registry
from example_project.shop.models import Customer

pytestmark = pytest.mark.django_db

# Each program with a text of its error.
ATTACKS = {
    "deep recursion": ("def f():\n    return f()\nf()", "RecursionError"),
    "deep result": ("x = []\nfor i in range(1000):\n    x = [x]\nx", "nested deeper"),
    "huge integer": ("10 ** 10 ** 8", "MemoryError"),
    "string bomb": ("'a' * 10 ** 9", "MemoryError"),
    "list bomb": ("[0] * 10 ** 9", "MemoryError"),
    "growing list": ("x = []\nwhile True:\n    x.append('a' * 1000)", "Error"),
    "doubling string": ("x = 'a'\nwhile True:\n    x += x", "MemoryError"),
    "endless loop": ("while True:\n    pass", "TimeoutError"),
    "import of the network": ("import socket", "No module named"),
    "import of processes": ("import subprocess", "No module named"),
    "import of Django": ("from django.conf import settings", "No module named"),
    "a command": ("import os\nos.system('id')", "no attribute 'system'"),
    "the environment": ("import os\nos.environ", "not supported"),
    "a file": ("open('/etc/passwd').read()", "does not work"),
    "a file of the project": ("from pathlib import Path\nPath('manage.py').read_text()", "Error"),
    "__import__": ("__import__('os')", "There is no function"),
    "classes": ("().__class__.__bases__[0].__subclasses__()", "does not work"),
    "classes in a format": ("'{0.__class__}'.format(1)", "no attribute"),
    "globals of a tool": ("customers_list.__globals__", "does not work"),
    "frames": ("def f():\n    yield 1\nf().gi_frame", "Error"),
    "builtins": ("__builtins__", "Error"),
    "a thousand calls": ("for i in range(1000):\n    customers_list(page=1)", "the most that it"),
    "calls past their errors": (
        "for i in range(1000):\n    try:\n        customers_list(page=1)\n    except Exception:\n"
        "        pass",
        "the most that it",
    ),
    "a pattern by name": ("signatures(pattern='orders_*')", "takes at most"),
    "a pattern that takes long": ("signatures('[' * 10 ** 6)", "takes at most"),
    "many patterns": ("signatures(*['*'] * 10 ** 5)", "takes at most"),
    "huge integer as a pattern": ("signatures(10 ** 5000)", "takes at most"),
    "huge integer as an id": ("kept(10 ** 5000)", "takes at most"),
    "huge integer as an argument": ("customers_list(page=10 ** 5000)", "4300"),
    "half a character as an id": ("kept('\\ud800:x')", "NOT_FOUND"),
    "bytes as an argument": ("customers_list(name=b'\\xff')", "can't decode"),
    "a tool as a callback": ("list(map(customers_list, [1]))", "by name"),
    "what parts of programs call": ("_offset = _offset\n_offset(1, 2)", "Error"),
    "a zone that is a file": (
        "from zoneinfo import ZoneInfo\nZoneInfo('../../../../etc/passwd')",
        "There is no time zone",
    ),
    "exit": ("raise SystemExit(1)", "Error"),
    "a long chain": ("1+" * 9000 + "1", "nested too deeply"),
    "deep brackets": ("(" * 5000 + ")" * 5000, "SyntaxError"),
    "thousands of unknown names": ("\n".join(f"a{n}()" for n in range(2000)), "There is no"),
    "long error": ("raise ValueError('x ' * 10 ** 6)", "ValueError: x x"),
    "another caller's customer": ("customers_retrieve(id=BOBS)", "NOT_FOUND"),
    "a tool that the caller may not call": ("products_partial_update(items=[])", "FORBIDDEN"),
    "itself": ("tools_compose(program='1')", "There is no function"),
    "not Python": ("SELECT 1", "SyntaxError"),
    "a null character": ("'\\0' + chr(0) + 1", "TypeError"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_ends_in_an_error_and_changes_nothing(composer, configure, name):
    program, end = ATTACKS[name]
    # A busy machine takes a while for the calls that come before the limit.
    seconds = 20 if end == "the most that it" else 1
    configure(COMPOSE_LIMITS={"seconds": seconds, "calls": 4})
    bobs = Customer.objects.filter(owner__username="bob").first().pk
    before, started = Customer.objects.count(), time.monotonic()
    result = composer.run(program.replace("BOBS", str(bobs)))
    assert end in result.envelope["error"]
    assert len(result.envelope["error"]) < 10_000
    assert time.monotonic() - started < 15
    assert Customer.objects.count() == before


def test_output_is_cut(composer, configure):
    configure(COMPOSE_LIMITS={"output": 100})
    assert composer.run("print('a' * 10 ** 6)").data["output"] == "a" * 100 + "…"


@pytest.mark.parametrize("function", ["signatures()", "kept('x')", "customers_list(page=1)"])
def test_the_time_of_calls_counts(composer, monkeypatch, function):
    # Each reading of the clock is a second later.
    clock = SimpleNamespace(monotonic=itertools.count().__next__)
    monkeypatch.setattr("drf_mcp.contrib.compose.calls.time", clock)
    program = f"while True:\n    try:\n        {function}\n    except Exception:\n        pass"
    result = composer.run(program)
    assert result.envelope["error"] == "The program took longer than 20 seconds."


def test_a_call_is_stopped_when_the_time_of_its_program_is_over(composer, monkeypatch):
    monkeypatch.setattr("drf_mcp.contrib.compose.calls.ProgramCalls.left", 0.000001)
    result = composer.run("orders_list()")
    assert "The call was stopped" in result.envelope["error"]


def test_the_results_of_all_calls_have_one_limit(composer, monkeypatch):
    monkeypatch.setattr("drf_mcp.contrib.compose.calls.MEGABYTE", 100)
    composer.value("customers_list(page_size=20, page=1)")
    result = composer.run("for i in range(9):\n    customers_list(page_size=20, page=1)")
    assert "CONTENT_TRUNCATED" in result.envelope["error"]


def test_a_program_does_not_wait_in_sleep(composer):
    started = time.monotonic()
    assert composer.value("import time\ntime.sleep(30)") is None
    assert time.monotonic() - started < 15


def test_a_program_leaves_no_state_for_the_next_program(composer, composer_of):
    composer.run("secret = 'mine'\nimport math\nmath.pi = 4")
    result = composer_of("bob").run("secret")
    assert "not defined" in result.envelope["error"]


def test_an_anonymous_caller_is_refused(composer_of):
    answer = composer_of(None).post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert answer.status_code == 401


def stop(composer):
    program = "customers_partial_update(id=CUSTOMER, name='New')\ncustomers_destroy(id=CUSTOMER)"
    customer = Customer.objects.exclude(orders__isnull=False).first()
    return composer.run(program.replace("CUSTOMER", str(customer.pk))), customer


def test_only_its_caller_resumes_a_stopped_program(staff, composer_of, configure):
    configure(CONFIRM=True)
    stopped, customer = stop(staff)
    assert composer_of("alice").resume(stopped).code == "NOT_FOUND"
    assert composer_of("bob").resume(stopped).code == "NOT_FOUND"
    assert Customer.objects.filter(pk=customer.pk).exists()


@pytest.mark.parametrize("changed", ["", "x", "AAAA:BBBB"])
def test_a_changed_id_of_a_stopped_program_is_refused(staff, configure, changed):
    configure(CONFIRM=True)
    stopped, _customer = stop(staff)
    name = stopped.data["resume"]
    result = staff.call("tools_compose", resume=f"{name}{changed}" if changed else name[:-1])
    assert result.code == "NOT_FOUND"


def test_a_stopped_program_is_resumed_once(staff, configure):
    configure(CONFIRM=True)
    stopped, customer = stop(staff)
    assert not staff.resume(stopped).is_error
    assert not Customer.objects.filter(pk=customer.pk).exists()
    again = staff.resume(stopped)
    assert (again.code, again.data["details"]["field"]) == ("NOT_FOUND", "resume")


def test_a_stopped_program_is_not_resumed_with_fewer_rights(staff, configure):
    configure(CONFIRM=True)
    stopped, customer = stop(staff)
    user = Token.objects.get(user__username="carol").user
    user.is_staff = False
    user.save()
    assert staff.resume(stopped).is_error
    assert Customer.objects.filter(pk=customer.pk).exists()


def test_a_stopped_program_is_not_resumed_while_permissions_cannot_be_checked(
    staff, configure, monkeypatch
):
    configure(CONFIRM=True)
    stopped, customer = stop(staff)

    def fail(*args) -> None:
        raise Unavailable()

    with monkeypatch.context() as patch:
        view_class = registry.tool("customers_list").endpoint.view_class
        patch.setattr(view_class, "check_permissions", fail)
        assert staff.resume(stopped).code == "UNAVAILABLE"
    assert Customer.objects.filter(pk=customer.pk).exists()


def test_a_record_beyond_the_bound_is_refused_and_the_others_stay(staff, configure):
    configure(CONFIRM=True, MAX_KEPT_PROGRAMS=2)
    stopped = [stop(staff)[0] for _ in range(3)]
    assert "resume" not in stopped[2].data
    assert "This program is not kept: 2 of yours are" in stopped[2].data["remediation"]
    assert not staff.resume(stopped[0]).is_error


def test_a_record_that_is_too_long_is_not_stored(staff, configure):
    configure(CONFIRM=True, COMPOSE_LIMITS={"characters": 100})
    stopped, _customer = stop(staff)
    assert "resume" not in stopped.data
    assert "Call customers_destroy itself" in stopped.data["remediation"]
    assert KeptProgram.objects.count() == 0


def test_a_resume_that_is_refused_while_all_processes_are_busy_can_be_repeated(staff, configure):
    configure(CONFIRM=True, COMPOSE_LIMITS={"processes": 1, "waiting": 1})
    stopped, customer = stop(staff)
    with queue.waiting("another owner", {"processes": 1, "waiting": 1}):
        assert staff.resume(stopped).code == "UNAVAILABLE"
    assert not staff.resume(stopped).is_error
    assert not Customer.objects.filter(pk=customer.pk).exists()


def test_a_forked_process_refuses_programs(composer, monkeypatch):
    monkeypatch.setattr("drf_mcp.contrib.compose.sandbox.pools", {0: None})
    assert composer.run("1").code == "UNAVAILABLE"
