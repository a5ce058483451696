"""Requests without a valid credential are counted by address and cannot fill the table."""

from __future__ import annotations

import pytest
from django.test import Client

from drf_mcp.contrib.audit.auditor import INTERVAL, OTHER_ADDRESSES
from drf_mcp.contrib.audit.models import AuditedCall
from tests.agents import Agent
from tests.contrib.audit.test_records import TOOL

TOKEN = "rest_framework.authentication.TokenAuthentication"
SIGNED_IN = "rest_framework.permissions.IsAuthenticated"


@pytest.fixture(autouse=True)
def minute(monkeypatch):
    """The clock of the counter, in seconds."""
    clock = [1_000.0]
    monkeypatch.setattr("drf_mcp.contrib.audit.auditor.time.monotonic", lambda: clock[0])
    return clock


@pytest.fixture
def send_refused_call(configure, db):
    configure(AUTHENTICATION_CLASSES=[TOKEN], PERMISSION_CLASSES=[SIGNED_IN])

    def send_refused_call(address: str = "192.0.2.1", **headers) -> int:
        agent = Agent(Client(REMOTE_ADDR=address))
        message, own = agent.frame("tools/call", {"name": TOOL, "arguments": {"name": "a"}})
        return agent.post(message, {**own, **headers}).status_code

    return send_refused_call


def counts() -> list[tuple[str, int, int]]:
    rows = AuditedCall.objects.order_by("pk")
    assert {row.verdict for row in rows} <= {"denied"}
    return [(row.address, row.status, row.messages) for row in rows]


def test_the_first_message_of_a_minute_has_its_row_at_once(send_refused_call):
    assert send_refused_call() == 401
    row = AuditedCall.objects.get()
    assert (row.verdict, row.code, row.status) == ("denied", "UNAUTHORIZED", 401)
    assert (row.address, row.messages, row.arguments) == ("192.0.2.1", 1, "")


def test_further_messages_are_written_together_after_a_minute(send_refused_call, minute, auditor):
    for _ in range(5):
        send_refused_call()
    assert counts() == [("192.0.2.1", 401, 1)]
    minute[0] += INTERVAL
    send_refused_call("192.0.2.2")
    assert counts() == [("192.0.2.1", 401, 1), ("192.0.2.1", 401, 4), ("192.0.2.2", 401, 1)]


def test_counted_messages_are_written_by_flush(send_refused_call, auditor):
    send_refused_call()
    send_refused_call()
    auditor.strangers.flush()
    assert counts() == [("192.0.2.1", 401, 1), ("192.0.2.1", 401, 1)]


def test_a_message_with_a_wrong_token_is_counted(send_refused_call):
    assert send_refused_call(Authorization="Token wrong") == 401
    assert counts() == [("192.0.2.1", 401, 1)]


def test_addresses_beyond_the_limit_are_counted_together(send_refused_call, auditor, monkeypatch):
    monkeypatch.setattr("drf_mcp.contrib.audit.auditor.MAX_ADDRESSES", 3)
    send_refused_call()
    for number in range(10, 20):
        send_refused_call(f"192.0.2.{number}")
    auditor.strangers.flush()
    assert {row[0]: row[2] for row in counts()[1:]} == {
        "192.0.2.10": 1,
        "192.0.2.11": 1,
        "192.0.2.12": 1,
        OTHER_ADDRESSES: 7,
    }


def test_each_refused_message_of_a_known_caller_has_a_row(configure, agent_of):
    configure(PERMISSION_CLASSES=["rest_framework.permissions.IsAdminUser"])
    for _ in range(2):
        message, headers = agent_of("alice").frame("tools/list", {})
        agent_of("alice").post(message, headers)
    assert [row.user_label for row in AuditedCall.objects.all()] == ["alice", "alice"]


def test_a_failing_database_changes_no_response(send_refused_call, auditor, monkeypatch, caplog):
    def fail(*args):
        raise RuntimeError("gone")

    monkeypatch.setattr(type(auditor), "is_kept", fail)
    assert send_refused_call() == 401
    assert "could not be written" in caplog.text
