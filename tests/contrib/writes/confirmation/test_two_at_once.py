"""One confirmation that several connections use at once."""

from __future__ import annotations

import threading

import pytest
from django.core.management import call_command
from django.db import connection, connections

from drf_mcp.contrib.writes.confirmation import Confirmation
from drf_mcp.contrib.writes.models import UsedConfirmation
from drf_mcp.contrib.writes.previewer import Preview
from drf_mcp.features import CallState
from drf_mcp.tools.arguments.call import Call


class AnyArguments:
    """The arguments of the tool that is confirmed."""

    def replace_control(self, arguments, name, value):
        return arguments


class AnyTool:
    """The tool that is confirmed."""

    name = "presses_destroy"
    arguments = AnyArguments()


class AnyCaller:
    """The caller who confirms."""

    principal = "alice"


def make_confirmation() -> Confirmation:
    pending = CallState(AnyTool, {"pk": 1}, AnyCaller)
    pending.bound = Call({"pk": 1})
    return Confirmation(pending, Preview(state="as shown"))


@pytest.fixture
def shared_database(request, tmp_path, django_db_blocker):
    """A database to which each thread opens its own connection."""
    if connection.vendor == "postgresql":
        request.getfixturevalue("django_db_setup")
        with django_db_blocker.unblock():
            yield
            UsedConfirmation.objects.all().delete()
        return
    usual, usually = connections["default"], connections.databases["default"]
    own = {"NAME": str(tmp_path / "shared.sqlite3")}
    options = {"timeout": 20, "transaction_mode": "IMMEDIATE"}
    with django_db_blocker.unblock():
        connections.databases["default"] = {**usually, **own, "OPTIONS": options}
        connections["default"] = connections.create_connection("default")
        call_command("migrate", "drf_mcp_writes", verbosity=0)
        yield
        connections["default"].close()
        connections["default"], connections.databases["default"] = usual, usually


def test_of_many_confirmations_at_once_one_counts(shared_database):
    text, faults = make_confirmation().write(), []
    barrier = threading.Barrier(6)

    def confirm() -> None:
        barrier.wait()
        try:
            faults.append(make_confirmation().find_fault(text, 300))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=confirm) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(faults) == ["", *["used"] * 5]
    assert UsedConfirmation.objects.count() == 1


def test_a_used_confirmation_does_not_break_the_transaction(db):
    """PostgreSQL would end the transaction at the failed statement; a savepoint keeps it."""
    text = make_confirmation().write()
    assert make_confirmation().find_fault(text, 300) == ""
    assert make_confirmation().find_fault(text, 300) == "used"
    assert UsedConfirmation.objects.count() == 1
