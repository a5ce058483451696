"""Without strict mode, one thread of the process writes several records together."""

from __future__ import annotations

import threading
import time

import pytest
from django.contrib.auth.models import User
from django.db import DataError, OperationalError, transaction
from rest_framework.authtoken.models import Token

from drf_mcp.contrib.audit.auditor import RecordBatch, begin_in_child, flush_at_exit
from drf_mcp.contrib.audit.models import AuditedCall
from tests.contrib.audit.test_records import TOOL

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def without_thread(monkeypatch, auditor):
    """Keep the thread from writing during the test and after it."""
    monkeypatch.setattr(RecordBatch, "seconds", 60.0)
    yield
    auditor.batch.waiting.clear()


@pytest.fixture
def agent(configure, agent_of, transactional_db):
    alice, _ = User.objects.get_or_create(username="alice")
    Token.objects.get_or_create(user=alice)
    configure(AUTHENTICATION_CLASSES=["rest_framework.authentication.TokenAuthentication"])
    return agent_of("alice")


def wait_until(condition) -> None:
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def tools_written() -> list[str]:
    return list(AuditedCall.objects.order_by("pk").values_list("tool", flat=True))


def test_the_thread_writes_the_records_and_ends(agent, auditor, monkeypatch):
    # Another connection finds the tables of a database in memory locked.
    rows: list[AuditedCall] = []
    monkeypatch.setattr(auditor, "save_rows", rows.extend)
    monkeypatch.setattr(RecordBatch, "seconds", 0.01)
    agent.call(TOOL, name="a")
    wait_until(lambda: rows and auditor.batch.thread is None)
    assert [row.tool for row in rows] == [TOOL]


def test_a_call_inside_a_transaction_is_written_at_once(agent):
    with transaction.atomic():
        agent.call(TOOL, name="a")
        assert tools_written() == [TOOL]


def test_records_wait_for_a_locked_database(agent, auditor, monkeypatch, caplog):
    with monkeypatch.context() as patch:
        patch.setattr(auditor, "save_rows", fail_with(OperationalError("locked")))
        agent.call(TOOL, name="a")
        auditor.flush()
    assert "waits for its database" in caplog.text
    agent.call(TOOL, name="b")
    auditor.flush()
    assert tools_written() == [TOOL] * 2


def test_a_row_that_the_database_refuses_does_not_lose_the_others(
    agent, auditor, monkeypatch, caplog
):
    save = auditor.save

    def refuse(row):
        if '"b"' in row.arguments:
            raise DataError("too long")
        save(row)

    monkeypatch.setattr(auditor, "save_rows", fail_with(DataError("too long")))
    monkeypatch.setattr(auditor, "save", refuse)
    for name in ("a", "b", "c"):
        agent.call(TOOL, name=name)
    auditor.flush()
    assert tools_written() == [TOOL] * 2
    assert caplog.text.count("The audit of a call could not be written") == 1


def test_beyond_the_limit_the_oldest_records_are_dropped_and_logged(
    agent, auditor, monkeypatch, caplog
):
    monkeypatch.setattr(RecordBatch, "max_waiting", 2)
    monkeypatch.setattr(auditor, "save_rows", fail_with(OperationalError("away")))
    for name in ("a", "b", "c"):
        agent.call(TOOL, name=name)
    auditor.flush()
    assert "The audit of 1 calls is lost" in caplog.text
    assert [record["arguments"] for record in auditor.batch.waiting] == [
        '{"name": "b"}',
        '{"name": "c"}',
    ]


def test_a_forked_process_leaves_the_records_to_its_parent(agent, auditor):
    agent.call(TOOL, name="a")
    thread = auditor.batch.thread
    begin_in_child()
    auditor.flush()
    assert tools_written() == []
    agent.call(TOOL, name="b")
    assert auditor.batch.thread is not thread
    auditor.flush()
    assert tools_written() == [TOOL]


def test_waiting_records_are_written_at_exit(agent):
    agent.call(TOOL, name="a")
    flush_at_exit()
    assert tools_written() == [TOOL]


def test_records_that_cannot_be_written_at_exit_are_logged_as_lost(
    agent, auditor, monkeypatch, caplog
):
    monkeypatch.setattr(auditor, "save_rows", fail_with(OperationalError("away")))
    agent.call(TOOL, name="a")
    flush_at_exit()
    assert "The audit of 1 calls is lost at the exit" in caplog.text


def test_a_process_that_stops_writes_at_once(agent, monkeypatch):
    monkeypatch.setattr(RecordBatch, "is_stopping", threading.Event())
    RecordBatch.is_stopping.set()
    agent.call(TOOL, name="a")
    assert tools_written() == [TOOL]


def fail_with(exc: Exception):
    def fail(*args):
        raise exc

    return fail
