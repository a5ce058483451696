"""One structured log record per call."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.arguments.errors import MAX_NAME, escape_unprintable
from tests.agents import STATELESS

PAGE = Path(__file__).parents[2] / "docs" / "observing.md"
FIELDS = {
    "tool",
    "method",
    "outcome",
    "status",
    "duration_ms",
    "queries",
    "bytes",
    "request_id",
    "is_trial",
    "user_id",
    "client",
    "revision",
    "arguments",
}


@pytest.mark.slow
def test_a_call_is_one_record_with_every_field(alice, record):
    result = alice.result("tools/call", name="orders_list", arguments={})
    logged = record()
    fields = {name: getattr(logged, name) for name in FIELDS}
    assert fields == {
        "tool": "orders_list",
        "method": "tools/call",
        "outcome": "success",
        "status": 200,
        "duration_ms": fields["duration_ms"],
        "queries": None,
        "bytes": fields["bytes"],
        "request_id": json.loads(result["content"][0]["text"])["meta"]["request_id"],
        "is_trial": False,
        "user_id": str(User.objects.get(username="alice").pk),
        "client": "tests",
        "revision": STATELESS,
        "arguments": None,
    }
    assert logged.levelno == logging.INFO
    assert fields["duration_ms"] > 0


def test_the_documentation_lists_every_field():
    section = PAGE.read_text().split("## The log")[1].split("## ")[0]
    named = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", section, re.M)
    assert {name.strip("`") for cell in named for name in cell.split(", ")} == FIELDS


OUTCOMES = [
    ("cards", {}, "success", 200),
    ("cards", {"title": []}, "validation_error", 400),
    ("cards", {"tite": "x"}, "validation_error", 400),
    ("cards", "no object", "invalid_format", 400),
    ("crashes", {}, "internal_error", 500),
    ("declines", {}, "soft_failure", 200),
    ("unwritable", {}, "internal_error", 500),
]


def test_each_outcome_has_its_word_and_its_line(agent, records):
    for tool, arguments, outcome, status in OUTCOMES:
        agent.post(*agent.frame("tools/call", {"name": tool, "arguments": arguments}))
        logged = records()[-1]
        assert (logged.tool, logged.outcome, logged.status) == (tool, outcome, status)
        assert logged.getMessage() == (
            f"{tool}: {outcome} ({status}) in {logged.duration_ms:.1f} ms, user None, "
            f"{logged.request_id}"
        )


def get_recorded_client(info: Any, agent, records) -> Any:
    """Return the recorded client for this `clientInfo`."""
    meta = {"io.modelcontextprotocol/clientInfo": info}
    agent.post(*agent.frame("tools/call", {"name": "queries", "_meta": meta}))
    return records()[-1].client


def test_a_clients_name_cannot_forge_a_line_of_the_log(agent, records):
    forged = "evil\nINFO orders_refund: success\r\u2028\x1b[2J\u202e"
    client = get_recorded_client({"name": forged, "version": "1"}, agent, records)
    assert client.isprintable()
    assert client.startswith("evil\\nINFO")


@given(st.text())
def test_any_text_becomes_printable_and_bounded(text):
    line = escape_unprintable(text)
    assert line.isprintable()
    assert len(line) <= MAX_NAME * len(r"\U0001f600")


def test_a_refused_message_is_logged_for_debugging_only(agent, caplog):
    caplog.set_level(logging.DEBUG, logger="drf_mcp.calls")
    params = {"name": "nothing\nelse"}
    unknown = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    line = "tools/call refused: -32602 Unknown tool: nothing\\nelse."
    for message, facts, start in (
        (unknown, ("tools/call", -32602, 200), line),
        (b"{", (None, -32700, 400), "message refused: -32700 "),
    ):
        caplog.clear()
        agent.post(message, {"MCP-Protocol-Version": "2025-11-25"})
        (logged,) = [record for record in caplog.records if record.name == "drf_mcp.calls"]
        assert logged.levelno == logging.DEBUG
        assert (logged.method, logged.code, logged.status) == facts
        assert logged.getMessage().startswith(start)


def test_a_call_that_cannot_be_recorded_succeeds(agent, caplog, monkeypatch):
    def fail(*args) -> None:
        raise OSError("no room for logs")

    caplog.set_level(logging.INFO, logger="drf_mcp.calls")
    monkeypatch.setattr("drf_mcp.observability.records.write_record", fail)
    assert agent.call("queries").data["groups"] == 0
    assert "A tool call could not be recorded" in caplog.text
