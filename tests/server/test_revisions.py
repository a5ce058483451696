"""What each revision of the protocol answers."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import path

import drf_mcp
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


def test_initialize_echoes_a_revision_that_is_served_and_else_offers_the_latest(subtests, serve):
    for asked, offered in [
        *zip(HANDSHAKE, HANDSHAKE, strict=True),
        *((asked, "2025-11-25") for asked in ("2024-11-05", STATELESS, "9999-01-01", "")),
    ]:
        with subtests.test(asked=asked, offered=offered):
            assert initialize(serve(offered), asked)["protocolVersion"] == offered


def test_initialize_without_a_version_header_is_answered(serve):
    agent = serve("2025-06-18")
    message, _ = agent.frame("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})
    answer = json.loads(agent.post(message).content)
    assert answer["result"]["protocolVersion"] == "2025-06-18"


def test_initialize_promises_what_is_installed_and_no_changing_list(serve):
    declared = initialize(serve("2025-11-25"), "2025-11-25")["capabilities"]
    # The prompts of the example are in the registry.
    assert declared == {"tools": {}, "prompts": {}, "completions": {}, "resources": {}}


def test_ping_is_answered_with_nothing(subtests, serve):
    for revision in HANDSHAKE:
        with subtests.test(revision=revision):
            assert serve(revision).result("ping") == {}


def test_a_notification_is_taken_and_not_answered(subtests, serve):
    for revision in REVISIONS:
        for method in ["notifications/initialized", "notifications/whatever"]:
            with subtests.test(revision=revision, method=method):
                agent = serve(revision)
                message, headers = agent.frame(method, {})
                del message["id"]
                response = agent.post(message, headers)
                assert (response.status_code, response.content) == (202, b"")


def test_a_client_response_is_taken_where_the_revision_has_them(subtests, serve):
    for revision in REVISIONS:
        for member in ["result", "error"]:
            with subtests.test(revision=revision, member=member):
                message = {"jsonrpc": "2.0", "id": 1, member: {}}
                response = serve(revision).post(message, {"MCP-Protocol-Version": revision})
                if revision == STATELESS:
                    assert (response.status_code, response.json()["error"]["code"]) == (400, -32600)
                else:
                    assert (response.status_code, response.content) == (202, b"")


def test_discover_names_every_revision_newest_first(serve):
    assert serve(STATELESS).result("server/discover")["supportedVersions"] == list(REVISIONS)


def test_a_call_works_without_a_handshake_and_has_the_members_of_its_revision(subtests, serve):
    for revision in REVISIONS:
        with subtests.test(revision=revision):
            result = serve(revision).call("word")
            assert result.data == {"word": "hello"}
            # A success does not say that it is no error.
            assert "isError" not in result.raw
            assert ("structuredContent" in result.raw) == (revision != "2025-03-26")
            assert result.raw.get("resultType") == ("complete" if revision == STATELESS else None)


def test_a_tool_definition_holds_the_members_of_its_revision_only(subtests, serve):
    for revision in REVISIONS:
        with subtests.test(revision=revision):
            members = {"name", "description", "inputSchema", "annotations"}
            if revision != "2025-03-26":
                members |= {"title", "outputSchema"}
            assert set(serve(revision, OUTPUT_SCHEMA="envelope").tools()["word"]) == members


def test_a_list_may_be_kept_in_the_stateless_revision_only(subtests, serve):
    for revision in REVISIONS:
        with subtests.test(revision=revision):
            result = serve(revision).result("tools/list")
            assert ("ttlMs" in result, "cacheScope" in result) == ((revision == STATELESS,) * 2)


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


def test_the_server_is_what_the_settings_call_it(subtests, serve):
    for revision in HANDSHAKE:
        with subtests.test(revision=revision):
            names = {"SERVER_NAME": "shop", "SERVER_TITLE": "The shop", "SERVER_VERSION": "7.1"}
            expected = {"name": "shop", "title": "The shop", "version": "7.1"}
            if revision == "2025-03-26":
                del expected["title"]
            assert initialize(serve(revision, **names), revision)["serverInfo"] == expected


DESCRIBED = {
    "description": "Orders.",
    "websiteUrl": "https://shop.example",
    "icons": [{"src": "https://shop.example/icon.png"}],
}


def test_the_server_is_described_where_the_revision_has_a_place(subtests, serve):
    for revision in HANDSHAKE:
        with subtests.test(revision=revision):
            info = initialize(serve(revision, SERVER_INFO=DESCRIBED), revision)["serverInfo"]
            told = {name: value for name, value in info.items() if name in DESCRIBED}
            assert told == (DESCRIBED if revision == "2025-11-25" else {})


def test_discovery_describes_the_server_and_no_other_result_does(serve):
    agent = serve(STATELESS, SERVER_INFO=DESCRIBED)
    assert agent.result("server/discover")["_meta"][SERVER_INFO].items() >= DESCRIBED.items()
    assert not agent.result("tools/list")["_meta"][SERVER_INFO].keys() & DESCRIBED.keys()


def test_the_server_has_this_packages_version_by_default(serve):
    agent = serve("2025-11-25")
    assert initialize(agent, "2025-11-25")["serverInfo"]["version"] == drf_mcp.__version__


def test_every_stateless_result_says_who_the_server_is(subtests, serve):
    for method in ["server/discover", "tools/list", "tools/call"]:
        with subtests.test(method=method):
            agent = serve(STATELESS, SERVER_NAME="shop")
            params = {"name": "word"} if method == "tools/call" else {}
            assert agent.result(method, **params)["_meta"][SERVER_INFO]["name"] == "shop"


def test_instructions_are_sent_with_the_handshake_and_with_discovery(subtests, serve):
    for text in ["", "Ask before deleting."]:
        with subtests.test(text=text):
            agent = serve("2025-11-25", INSTRUCTIONS=text)
            expected = text or None
            assert initialize(agent, "2025-11-25").get("instructions") == expected
            discovered = serve(STATELESS, INSTRUCTIONS=text).result("server/discover")
            assert discovered.get("instructions") == expected
