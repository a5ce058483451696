"""The signals ``tool_called`` and ``tool_failed``."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from drf_mcp.exposure import Tool
from drf_mcp.signals import tool_called, tool_failed


@pytest.fixture
def received():
    received_signals: list[dict] = []

    def receive(signal, **sent) -> None:
        received_signals.append({"signal": signal, **sent})

    for signal in (tool_called, tool_failed):
        signal.connect(receive, sender=Tool)
    yield received_signals
    for signal in (tool_called, tool_failed):
        signal.disconnect(receive, sender=Tool)


def test_tool_called_has_the_outcome_and_the_request(alice, received):
    alice.result("tools/call", name="orders_list", arguments={})
    (sent,) = received
    assert sent["signal"] is tool_called
    assert sent["tool"].name == sent["outcome"].tool == "orders_list"
    assert sent["outcome"].status == 200
    assert sent["request"].user == User.objects.get(username="alice")
    assert sent["request"].path == "/mcp"
    assert sent["duration_ms"] > 0


def test_a_failure_sends_both_signals(agent, received):
    """A soft failure is no failure of the call, and an unknown tool sends no signal."""
    for tool, failed in (
        ("crashes", [tool_failed]),
        ("unwritable", [tool_failed]),
        ("declines", []),
    ):
        received.clear()
        agent.result("tools/call", name=tool)
        assert [sent["signal"] for sent in received] == [tool_called, *failed]
        code = "INTERNAL_ERROR" if failed else "SOLD_OUT"
        assert {sent["outcome"].failure.code for sent in received} == {code}
    received.clear()
    agent.error("tools/call", name="nothing")
    assert received == []


def test_a_receiver_that_raises_does_not_fail_the_call(agent, received, caplog):
    def fail(**sent) -> None:
        raise RuntimeError("a receiver's own trouble")

    tool_called.connect(fail)
    try:
        assert agent.call("queries").data == {"groups": 0}
    finally:
        tool_called.disconnect(fail)
    assert len(received) == 1
    assert "a receiver's own trouble" in caplog.text
