"""One confirmation that several connections use at once."""

from __future__ import annotations

import threading

import pytest
from django.db import connections

from drf_mcp.arguments.call import Call
from drf_mcp.contrib.writes.confirmation import Confirmation
from drf_mcp.contrib.writes.models import UsedConfirmation
from drf_mcp.features import CallState
from tests.contrib.shared_database import use_shared_database


class AnyArguments:
    """The arguments of the tool that is confirmed."""

    def replace_control(self, arguments, name, value):
        return arguments

    def leave_notes_out(self, arguments):
        return arguments


class AnyTool:
    """The tool that is confirmed."""

    name = "presses_destroy"
    arguments = AnyArguments()
    controls = ()


class AnyCaller:
    """The caller who confirms."""

    principal = "alice"


def make_confirmation() -> Confirmation:
    pending = CallState(AnyTool, {"pk": 1}, AnyCaller)
    pending.bound = Call({"pk": 1})
    return Confirmation(pending, "as shown")


@pytest.fixture
def shared_database(request, tmp_path):
    with use_shared_database(request, tmp_path, "drf_mcp_writes"):
        yield
        UsedConfirmation.objects.all().delete()


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
