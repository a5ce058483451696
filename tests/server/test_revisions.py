"""The results and capabilities of each protocol revision."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import path

from tests.agents import REVISIONS, STATELESS, Agent
from tests.server.views import Word

HANDSHAKE = [revision for revision in REVISIONS if revision != STATELESS]
SERVER_INFO = "io.modelcontextprotocol/serverInfo"


@pytest.fixture
def serve(expose):
    def agent(revision: str, **mcp_settings) -> Agent:
        expose(path("word/", Word.as_view()), **mcp_settings)
        return Agent(Client(), revision=revision)

    return agent


def initialize(agent: Agent, revision: str) -> dict:
    return agent.result(
        "initialize",
        protocolVersion=revision,
        capabilities={},
        clientInfo={"name": "tests", "version": "1"},
    )


def test_initialize_offers_the_requested_revision_or_the_latest(subtests, serve):
    for requested, offered in [
        *zip(HANDSHAKE, HANDSHAKE, strict=True),
        *((requested, "2025-11-25") for requested in ("2024-11-05", STATELESS, "9999-01-01", "")),
    ]:
        with subtests.test(requested=requested, offered=offered):
            assert initialize(serve(offered), requested)["protocolVersion"] == offered


def test_initialize_declares_the_installed_capabilities_and_no_list_changes(serve):
    declared = initialize(serve("2025-11-25"), "2025-11-25")["capabilities"]
    # The example shop has prompts, resources and messages to clients.
    names = ("tools", "prompts", "completions", "resources", "logging")
    assert declared == {name: {} for name in names}


def test_a_notification_is_accepted_without_a_response_body(subtests, serve):
    for revision in REVISIONS:
        for method in ["notifications/initialized", "notifications/whatever"]:
            with subtests.test(revision=revision, method=method):
                agent = serve(revision)
                message, headers = agent.frame(method, {})
                del message["id"]
                response = agent.post(message, headers)
                assert (response.status_code, response.content) == (202, b"")


def test_discover_names_every_revision_newest_first(serve):
    assert serve(STATELESS).result("server/discover")["supportedVersions"] == list(REVISIONS)


def test_a_call_works_without_a_handshake_and_has_the_members_of_its_revision(subtests, serve):
    for revision in REVISIONS:
        with subtests.test(revision=revision):
            result = serve(revision).call("word")
            assert result.data == {"word": "hello"}
            # A successful result has no isError.
            assert "isError" not in result.raw
            assert result.raw.get("resultType") == ("complete" if revision == STATELESS else None)


def test_a_tool_definition_has_the_members_of_its_revision_only(subtests, serve):
    for revision in REVISIONS:
        with subtests.test(revision=revision):
            members = {"name", "title", "description", "inputSchema", "outputSchema", "annotations"}
            assert set(serve(revision, OUTPUT_SCHEMA="envelope").tools()["word"]) == members


def test_a_list_has_a_time_to_live_in_the_stateless_revision_only(subtests, serve):
    for revision in REVISIONS:
        with subtests.test(revision=revision):
            result = serve(revision).result("tools/list")
            assert ("ttlMs" in result, "cacheScope" in result) == ((revision == STATELESS,) * 2)


@pytest.mark.parametrize("header", [{}, {"MCP-Protocol-Version": "2025-03-26"}])
def test_without_a_version_or_with_the_first_the_oldest_revision_answers(serve, header):
    agent = serve("2025-11-25")
    message, _ = agent.frame("tools/call", {"name": "word"})
    result = json.loads(agent.post(message, header).content)["result"]
    assert result["structuredContent"]["data"] == {"word": "hello"}


def test_initialize_echoes_the_first_revision_and_offers_what_the_next_has(serve):
    answer = initialize(serve("2025-06-18", SERVER_TITLE="The shop"), "2025-03-26")
    assert answer["protocolVersion"] == "2025-03-26"
    assert answer["serverInfo"]["title"] == "The shop"


@pytest.mark.parametrize("revision", [*REVISIONS, "2025-03-26"])
def test_a_batch_is_refused_in_every_revision(serve, revision):
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    response = serve(STATELESS).post([ping], {"MCP-Protocol-Version": revision})
    assert response.status_code == 400
    assert json.loads(response.content)["error"]["code"] == -32600


def test_the_revision_in_meta_has_precedence_over_the_header(serve):
    agent = serve(STATELESS)
    message, headers = agent.frame("tools/list", {})
    response = agent.post(message, {**headers, "MCP-Protocol-Version": "2025-11-25"})
    assert json.loads(response.content)["error"]["code"] == -32020


def test_the_server_has_the_names_of_the_settings(subtests, serve):
    for revision in HANDSHAKE:
        with subtests.test(revision=revision):
            names = {"SERVER_NAME": "shop", "SERVER_TITLE": "The shop", "SERVER_VERSION": "7.1"}
            expected = {"name": "shop", "title": "The shop", "version": "7.1"}
            assert initialize(serve(revision, **names), revision)["serverInfo"] == expected


DESCRIBED = {
    "description": "Orders.",
    "websiteUrl": "https://shop.example",
    "icons": [{"src": "https://shop.example/icon.png"}],
}


def test_discovery_describes_the_server_and_other_results_do_not(serve):
    agent = serve(STATELESS, SERVER_INFO=DESCRIBED)
    assert agent.result("server/discover")["_meta"][SERVER_INFO].items() >= DESCRIBED.items()
    assert not agent.result("tools/list")["_meta"][SERVER_INFO].keys() & DESCRIBED.keys()


def test_instructions_are_sent_with_initialize_and_discover(subtests, serve):
    for text in ["", "Ask before deleting."]:
        with subtests.test(text=text):
            agent = serve("2025-11-25", INSTRUCTIONS=text)
            expected = text or None
            assert initialize(agent, "2025-11-25").get("instructions") == expected
            discovered = serve(STATELESS, INSTRUCTIONS=text).result("server/discover")
            assert discovered.get("instructions") == expected
