"""Each host of docs/clients.md gets what the table of the page says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.urls import path
from mcp_types import methods
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import call_context, mcp_tool
from drf_mcp.transports.http import BufferedStream
from tests.agents import STATELESS, make_agent
from tests.protocol.hosts import (
    CLIENT_WAITS,
    FORM_SENT,
    HOSTS,
    PAGE_NAMED,
    PAGE_OMITTED,
    TASK_STARTED,
    TASKS,
    Host,
    write_table,
)

DOCS = Path(__file__).parents[2] / "docs" / "clients.md"
PROTOCOL = "io.modelcontextprotocol"
BOTH = "application/json, text/event-stream"


class ReasonSerializer(serializers.Serializer):
    reason = serializers.CharField()


@mcp_tool(name="refund")
class RefundView(APIView):
    def post(self, request):
        answer = call_context(request).ask(ReasonSerializer, "Why?")
        return Response({"reason": answer["reason"]})


@mcp_tool(name="export", task="optional")
class ExportView(APIView):
    def post(self, request):
        return Response({"done": True})


@mcp_tool(name="count")
class CountView(APIView):
    def post(self, request):
        call_context(request).progress(1, 1, "One of one")
        return Response({"done": True})


@mcp_tool(name="words", ui="table")
class WordsView(APIView):
    def get(self, request):
        return Response([{"word": "hello"}])


class Connection:
    """A connection as a host opens it.

    Attributes:
        opened: the result of the first request.
    """

    def __init__(self, host: Host) -> None:
        self.host = host
        self.http = make_agent("alice", revision=host.revision)
        # The value that a server with threads sets.
        self.http.http.defaults["wsgi.multithread"] = True
        self.session: dict[str, str] = {}
        if host.revision == STATELESS:
            self.opened = self.read("server/discover", {})
            return
        handshake = {
            "protocolVersion": host.revision,
            "capabilities": host.capabilities,
            "clientInfo": host.client,
        }
        methods.validate_client_request("initialize", host.revision, handshake)
        message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": handshake}
        # Only the first message has no header of the revision, because it negotiates the revision.
        response = self.http.post(message, {"Accept": BOTH})
        self.opened = response.json()["result"]
        if session := response.get("Mcp-Session-Id"):
            self.session["Mcp-Session-Id"] = session
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        headers = {"MCP-Protocol-Version": host.revision, "Accept": BOTH, **self.session}
        assert self.http.post(ready, headers).status_code == 202

    def read(self, method: str, params: Mapping[str, Any], **meta: Any) -> dict[str, Any]:
        """Send a request and return its result."""
        *_, last = self.read_all(method, params, **meta)
        return last["result"]

    def read_all(
        self, method: str, params: Mapping[str, Any], **meta: Any
    ) -> Iterator[dict[str, Any]]:
        """Send a request and yield the messages of the response as they arrive."""
        if self.host.revision == STATELESS:
            meta[f"{PROTOCOL}/clientCapabilities"] = self.host.capabilities
            meta[f"{PROTOCOL}/clientInfo"] = self.host.client
        message, headers = self.http.frame(method, {**params, **({"_meta": meta} if meta else {})})
        methods.validate_client_request(method, self.host.revision, message["params"])
        response = self.http.post(message, {**headers, "Accept": BOTH, **self.session})
        is_stream = response["Content-Type"] == "text/event-stream"
        for part in response:
            for line in part.decode().splitlines():
                if not is_stream or line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))

    def call(self, name: str) -> dict[str, Any]:
        """Call a tool without arguments and return the first message of the response."""
        return next(iter(self.read_all("tools/call", {"name": name, "arguments": {}})))

    def answer_question(self, name: str) -> dict[str, Any]:
        """Call a tool, decline the question that its view asks, and return the question.

        The stream of the response stays open, as on a server with threads.
        """
        questions: list[dict[str, Any]] = []
        connection = self

        class AnsweredStream(BufferedStream):
            def __init__(self, respond: Any) -> None:
                super().__init__(respond)
                self.channel.is_live = True

            def send(self, method: str, params: Any, id: str | None = None) -> None:
                questions.append({"method": method, "params": params})
                answer = {"jsonrpc": "2.0", "id": id, "result": {"action": "decline"}}
                headers = {"MCP-Protocol-Version": connection.host.revision, **connection.session}
                assert connection.http.post(answer, headers).status_code == 202

        with patch("drf_mcp.views.open_stream", lambda request, respond: AnsweredStream(respond)):
            self.call(name)
        (question,) = questions
        return question


@pytest.fixture(params=HOSTS, ids=lambda host: f"{host.name} {host.revision}".replace(" ", "-"))
def connection(request, expose, db) -> Connection:
    expose(
        path("refund", RefundView.as_view()),
        path("export", ExportView.as_view()),
        path("count", CountView.as_view()),
        path("words", WordsView.as_view()),
        TASKS_BACKEND="background",
    )
    return Connection(request.param)


def test_the_page_has_the_table_of_the_hosts():
    assert write_table() in DOCS.read_text()


def test_a_host_gets_the_revision_that_it_opens_with(connection):
    offered = connection.opened
    if connection.host.revision == STATELESS:
        assert offered["supportedVersions"][0] == STATELESS
    else:
        assert offered["protocolVersion"] == connection.host.revision


def test_a_host_that_declares_forms_gets_a_question_and_others_the_missing_arguments(connection):
    if connection.host.forms == FORM_SENT and connection.host.revision != STATELESS:
        assert connection.answer_question("refund")["method"] == "elicitation/create"
        return
    result = connection.call("refund")["result"]
    if connection.host.forms == FORM_SENT:
        (question,) = result["inputRequests"].values()
        assert question["method"] == "elicitation/create"
    else:
        envelope = json.loads(result["content"][0]["text"])
        assert envelope["data"]["error_code"] == "INPUT_REQUIRED"
        assert "reason" in str(envelope)


def test_a_host_that_declares_tasks_gets_a_task_and_others_wait(connection):
    result = connection.call("export")["result"]
    is_task = result.get("resultType") == "task"
    assert connection.host.tasks == (TASK_STARTED if is_task else CLIENT_WAITS)
    if not is_task:
        assert json.loads(result["content"][0]["text"])["data"] == {"done": True}


def test_tasks_are_offered_in_the_stateless_revision_only(connection):
    offered = connection.opened["capabilities"].get("extensions", {})
    assert (TASKS["extensions"].keys() <= offered.keys()) == (connection.host.revision == STATELESS)


def test_every_host_that_wants_progress_gets_it(connection):
    progress, answer = connection.read_all(
        "tools/call", {"name": "count", "arguments": {}}, progressToken="p"
    )
    assert progress["method"] == "notifications/progress"
    assert json.loads(answer["result"]["content"][0]["text"])["data"] == {"done": True}


def test_a_tool_names_its_page_in_revisions_that_have_pages(connection):
    tools = {tool["name"]: tool for tool in connection.read("tools/list", {})["tools"]}
    ui = tools["words"].get("_meta", {}).get("ui", {})
    assert connection.host.pages == (PAGE_NAMED if "resourceUri" in ui else PAGE_OMITTED)


def test_every_host_gets_resources_and_prompts(connection):
    # The resources and prompts of the example shop.
    assert connection.read("resources/list", {})["resources"]
    assert connection.read("prompts/list", {})["prompts"]
    assert {"resources", "prompts"} <= connection.opened["capabilities"].keys()
