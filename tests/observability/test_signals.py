"""The signals ``tool_called`` and ``tool_failed``."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from drf_mcp.signals import tool_called, tool_failed
from drf_mcp.tools import Tool


@pytest.fixture
def heard():
    got: list[dict] = []

    def receive(signal, **told) -> None:
        got.append({"signal": signal, **told})

    for signal in (tool_called, tool_failed):
        signal.connect(receive, sender=Tool)
    yield got
    for signal in (tool_called, tool_failed):
        signal.disconnect(receive, sender=Tool)


def test_a_call_is_told_with_its_outcome_and_request(alice, heard):
    alice.result("tools/call", name="orders_list", arguments={})
    ((told),) = heard
    assert told["signal"] is tool_called
    assert told["tool"].name == told["outcome"].tool == "orders_list"
    assert told["outcome"].status == 200
    assert told["request"].user == User.objects.get(username="alice")
    assert told["request"].path == "/mcp"
    assert told["duration_ms"] > 0


def test_a_failure_is_told_by_both_signals(agent, heard):
    """A soft failure is none of the call, and of a tool that does not exist nothing is sent."""
    for tool, failed in (
        ("crashes", [tool_failed]),
        ("unwritable", [tool_failed]),
        ("declines", []),
    ):
        heard.clear()
        agent.result("tools/call", name=tool)
        assert [told["signal"] for told in heard] == [tool_called, *failed]
        code = "INTERNAL_ERROR" if failed else "SOLD_OUT"
        assert {told["outcome"].failure.code for told in heard} == {code}
    heard.clear()
    agent.error("tools/call", name="nothing")
    assert heard == []


def test_a_receiver_that_raises_breaks_no_call(agent, heard, caplog):
    def fail(**told) -> None:
        raise RuntimeError("a receiver's own trouble")

    tool_called.connect(fail)
    try:
        assert agent.call("queries").data == {"groups": 0}
    finally:
        tool_called.disconnect(fail)
    assert len(heard) == 1
    assert "a receiver's own trouble" in caplog.text
