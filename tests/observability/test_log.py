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

from drf_mcp.tools.arguments.errors import MAX_NAME, escape_unprintable
from tests.agents import REVISIONS, STATELESS
from tests.observability import views

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


@pytest.fixture
def loggers_factory():
    made = logging.getLogRecordFactory()

    def factory(*args, **kwargs):
        record = made(*args, **kwargs)
        record.request_id = "the project's"
        return record

    logging.setLogRecordFactory(factory)
    yield
    logging.setLogRecordFactory(made)


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
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.M)) == FIELDS


def test_bytes_are_those_of_the_content_blocks(agent, record):
    response = agent.post(*agent.frame("tools/call", {"name": "queries"}))
    content = json.loads(response.content)["result"]["content"]
    written = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    assert record().bytes == len(written.encode())


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


def test_the_revision_is_that_of_the_message(agent, records):
    """A client of a handshake revision does not send its name with every call."""
    for agent.revision in REVISIONS:
        agent.result("tools/call", name="queries")
        logged = records()[-1]
        assert logged.revision == agent.revision
        assert (logged.client is None) is (agent.revision != STATELESS)


def test_queries_are_recorded_with_telemetry(agent, configure, record):
    configure(TELEMETRY=True)
    agent.result("tools/call", name="queries")
    assert record().queries == 1


def test_only_calls_are_recorded(agent, records):
    agent.tools()
    agent.result("server/discover")
    assert records() == []


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


def test_a_client_without_a_name_is_recorded_without_one(agent, records):
    infos: list[Any] = [None, "text", [], {}, {"name": 5}, {"name": ["x"]}]
    assert [get_recorded_client(info, agent, records) for info in infos] == [None] * 6


@given(st.text())
def test_any_text_becomes_printable_and_bounded(text):
    line = escape_unprintable(text)
    assert line.isprintable()
    assert len(line) <= MAX_NAME * len(r"\U0001f600")


@pytest.mark.usefixtures("loggers_factory")
def test_a_field_of_the_projects_record_factory_is_replaced(agent, record):
    """``extra`` raises for a field that the record factory has set."""
    agent.result("tools/call", name="queries")
    assert record().request_id.startswith("req_")


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


def test_no_record_is_made_if_the_logger_is_disabled(agent, caplog, monkeypatch):
    caplog.set_level(logging.WARNING, logger="drf_mcp.calls")
    monkeypatch.setattr("drf_mcp.observability.records.CallRecord", None)
    assert agent.call("queries").data == {"groups": 0}


def test_the_view_runs_once_for_the_call_and_its_record(agent, records, monkeypatch):
    asked = []
    original = views.Queries.get
    monkeypatch.setattr(views.Queries, "get", lambda *args: asked.append(1) or original(*args))
    agent.result("tools/call", name="queries")
    assert (len(asked), len(records())) == (1, 1)
