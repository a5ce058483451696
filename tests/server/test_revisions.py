"""What each revision of the protocol answers."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import path
from rest_framework.response import Response
from rest_framework.views import APIView

import drf_mcp
from tests.agents import REVISIONS, STATELESS, Agent

HANDSHAKE = [revision for revision in REVISIONS if revision != STATELESS]
SERVER_INFO = "io.modelcontextprotocol/serverInfo"


class Word(APIView):
    """Repeat a word."""

    permission_classes = []

    def get(self, request) -> Response:
        return Response({"word": request.query_params.get("word", "hello")})


@pytest.fixture
def serve(expose):
    """Serve one tool, ``word``, and return an agent for a revision."""

    def agent(revision: str, **mcp_settings) -> Agent:
        expose(path("word/", Word.as_view()), **mcp_settings)
        return Agent(Client(), revision=revision)

    return agent


def initialize(agent: Agent, revision: str) -> dict:
    """Shake hands, asking for a revision."""
    return agent.result(
        "initialize",
        protocolVersion=revision,
        capabilities={},
        clientInfo={"name": "tests", "version": "1"},
    )


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_initialize_echoes_a_revision_that_is_served(serve, revision):
    assert initialize(serve(revision), revision)["protocolVersion"] == revision


@pytest.mark.parametrize("asked", ["2024-11-05", "2026-07-28", "9999-01-01", ""])
def test_initialize_offers_the_latest_handshake_revision_for_any_other(serve, asked):
    assert initialize(serve("2025-11-25"), asked)["protocolVersion"] == "2025-11-25"


def test_initialize_without_a_version_header_is_answered(serve):
    agent = serve("2025-06-18")
    message, _ = agent.frame("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})
    answer = json.loads(agent.post(message).content)
    assert answer["result"]["protocolVersion"] == "2025-06-18"


def test_initialize_promises_tools_and_no_changing_list(serve):
    assert initialize(serve("2025-11-25"), "2025-11-25")["capabilities"] == {"tools": {}}


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_ping_is_answered_with_nothing(serve, revision):
    assert serve(revision).result("ping") == {}


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/whatever"])
def test_a_notification_is_taken_and_not_answered(serve, revision, method):
    agent = serve(revision)
    message, headers = agent.frame(method, {})
    del message["id"]
    response = agent.post(message, headers)
    assert (response.status_code, response.content) == (202, b"")


@pytest.mark.parametrize("revision", HANDSHAKE)
@pytest.mark.parametrize("member", ["result", "error"])
def test_a_client_response_is_taken_where_the_revision_has_them(serve, revision, member):
    agent = serve(revision)
    message = {"jsonrpc": "2.0", "id": 1, member: {}}
    response = agent.post(message, {"MCP-Protocol-Version": revision})
    assert (response.status_code, response.content) == (202, b"")


def test_a_client_response_is_refused_by_the_stateless_revision(serve):
    agent = serve(STATELESS)
    response = agent.post(
        {"jsonrpc": "2.0", "id": 1, "result": {}}, {"MCP-Protocol-Version": STATELESS}
    )
    assert response.status_code == 400
    assert json.loads(response.content)["error"]["code"] == -32600


def test_discover_names_every_revision_newest_first(serve):
    assert serve(STATELESS).result("server/discover")["supportedVersions"] == list(REVISIONS)


def test_discover_says_how_long_and_for_whom_it_may_be_kept(serve):
    result = serve(STATELESS).result("server/discover")
    assert result["ttlMs"] > 0
    assert result["cacheScope"] in ("public", "private")


@pytest.mark.parametrize("revision", REVISIONS)
def test_tools_list_and_call_work_in_every_revision(serve, revision):
    agent = serve(revision)
    assert list(agent.tools()) == ["word"]
    assert agent.call("word").data == {"word": "hello"}


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_success_does_not_say_that_it_is_no_error(serve, revision):
    assert "isError" not in serve(revision).call("word").raw


@pytest.mark.parametrize("revision", REVISIONS)
def test_structured_content_is_sent_where_the_revision_has_it(serve, revision):
    raw = serve(revision).call("word").raw
    assert ("structuredContent" in raw) == (revision != "2025-03-26")


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_result_type_is_the_stateless_revisions_alone(serve, revision):
    raw = serve(revision).call("word").raw
    assert raw.get("resultType") == ("complete" if revision == STATELESS else None)


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_tool_definition_holds_the_members_of_its_revision_only(serve, revision):
    members = {"name", "description", "inputSchema", "annotations"}
    if revision != "2025-03-26":
        members |= {"title", "outputSchema"}
    assert set(serve(revision).tools()["word"]) == members


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_list_may_be_kept_in_the_stateless_revision_only(serve, revision):
    result = serve(revision).result("tools/list")
    assert ("ttlMs" in result, "cacheScope" in result) == ((revision == STATELESS,) * 2)


def test_no_handshake_is_needed_for_a_call(serve):
    assert serve("2025-11-25").call("word").data == {"word": "hello"}


def test_without_a_version_header_the_oldest_revision_answers(serve):
    agent = serve("2025-11-25")
    message, _ = agent.frame("tools/call", {"name": "word"})
    result = json.loads(agent.post(message).content)["result"]
    assert "structuredContent" not in result


def test_meta_selects_the_stateless_revision_before_the_header(serve):
    agent = serve(STATELESS)
    message, headers = agent.frame("tools/list", {})
    response = agent.post(message, {**headers, "MCP-Protocol-Version": "2025-11-25"})
    assert json.loads(response.content)["error"]["code"] == -32020


def test_the_server_is_what_the_settings_call_it(serve):
    names = {"SERVER_NAME": "shop", "SERVER_TITLE": "The shop", "SERVER_VERSION": "7.1"}
    agent = serve("2025-11-25", **names)
    info = initialize(agent, "2025-11-25")["serverInfo"]
    assert info == {"name": "shop", "title": "The shop", "version": "7.1"}


def test_the_server_has_this_packages_version_by_default(serve):
    agent = serve("2025-11-25")
    assert initialize(agent, "2025-11-25")["serverInfo"]["version"] == drf_mcp.__version__


def test_the_oldest_revision_knows_no_server_title(serve):
    agent = serve("2025-03-26", SERVER_TITLE="The shop")
    assert "title" not in initialize(agent, "2025-03-26")["serverInfo"]


@pytest.mark.parametrize("method", ["server/discover", "tools/list", "tools/call"])
def test_every_stateless_result_says_who_the_server_is(serve, method):
    agent = serve(STATELESS, SERVER_NAME="shop")
    params = {"name": "word"} if method == "tools/call" else {}
    assert agent.result(method, **params)["_meta"][SERVER_INFO]["name"] == "shop"


def test_instructions_are_sent_with_the_handshake_and_with_discovery(serve):
    text = "Ask before deleting."
    agent = serve("2025-11-25", INSTRUCTIONS=text)
    assert initialize(agent, "2025-11-25")["instructions"] == text
    assert serve(STATELESS, INSTRUCTIONS=text).result("server/discover")["instructions"] == text


def test_without_instructions_there_is_no_member_for_them(serve):
    assert "instructions" not in initialize(serve("2025-11-25"), "2025-11-25")
