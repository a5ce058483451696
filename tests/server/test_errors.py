"""Protocol errors: their JSON-RPC code, HTTP status and message."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import path

from tests.agents import REVISIONS, STATELESS, Agent
from tests.oracles.watching import check_error
from tests.server.views import Word

HANDSHAKE = [revision for revision in REVISIONS if revision != STATELESS]
META = "io.modelcontextprotocol/"


@pytest.fixture
def agent(expose) -> Agent:
    expose(path("word/", Word.as_view()))
    return Agent(Client())


def error_of(response) -> tuple[int, int]:
    answer = json.loads(response.content)
    check_error(answer)
    return response.status_code, answer["error"]["code"]


def post(agent: Agent, method: str, params: dict | None = None, **headers: str | None):
    message, framed = agent.frame(method, params or {})
    framed.update({name.replace("_", "-"): value for name, value in headers.items()})
    return agent.post(message, {name: v for name, v in framed.items() if v is not None})


def test_a_body_that_is_no_json_is_a_parse_error(subtests, agent):
    for body in [b"", b"{", b"nonsense", b'{"a": 1}}', b"\xff\xfe", b'{"jsonrpc": NaN}', b"\x00"]:
        with subtests.test(body=body):
            response = agent.post(body)
            assert error_of(response) == (400, -32700)
            assert response["Content-Type"] == "application/json"


def test_json_that_is_no_message_is_an_invalid_request(subtests, agent):
    for body in [
        1,
        "ping",
        None,
        [],
        {},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "id": 1, "method": 5},
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
        {"jsonrpc": "2.0", "id": True, "method": "ping"},
    ]:
        with subtests.test(body=body):
            assert error_of(agent.post(body)) == (400, -32600)


def test_params_that_are_no_object_are_invalid(subtests, agent):
    for params in [[], [1], "x", 1, {"_meta": 3}]:
        with subtests.test(params=params):
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params}
            assert error_of(agent.post(message)) == (400, -32602)


def test_the_error_of_a_malformed_message_has_its_id_or_null(subtests, agent):
    for id, method, known in [
        *((id, "ping", None) for id in (1.5, None, True, [1], {})),
        ("mine", 5, "mine"),
    ]:
        with subtests.test(id=id, method=method, known=known):
            response = agent.post({"jsonrpc": "2.0", "id": id, "method": method})
            assert json.loads(response.content)["id"] == known


UNREADABLE = {
    "no JSON": b"{",
    "no message": b"5",
    "no id that is valid": b'{"jsonrpc": "2.0", "id": [], "method": "ping"}',
    "not let in": b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}',
}


def test_an_error_without_an_id_has_no_id_since_2025_11_25_and_null_before(subtests, agent):
    for body in UNREADABLE.values():
        for revision, members in [
            *((r, {}) for r in ("2025-11-25", "2026-07-28", "2027-01-01", " 2026-07-28 ")),
            *((r, {"id": None}) for r in (None, "2025-06-18", "2025-03-26", "latest", "9", "ü")),
        ]:
            with subtests.test(body=body, revision=revision, members=members):
                headers = {} if revision is None else {"MCP-Protocol-Version": revision}
                if b'"id": 1' in body:
                    headers["Origin"] = "https://evil.example"
                answer = json.loads(agent.post(body, headers).content)
                assert "error" in answer
                assert {name: answer[name] for name in answer if name == "id"} == members


def test_the_error_about_an_unknown_tool_names_the_nearest(subtests, expose):
    for revision in REVISIONS:
        with subtests.test(revision=revision):
            expose(path("word/", Word.as_view()))
            agent = Agent(Client(), revision=revision)
            response = post(agent, "tools/call", {"name": "words"})
            assert error_of(response) == (200, -32602)
            message = json.loads(response.content)["error"]["message"]
            assert message == "Unknown tool: words. Did you mean word?"


def test_a_call_without_a_tool_name_is_invalid(subtests, agent):
    for params in [{}, {"name": 5}, {"name": None}, {"name": ["word"]}]:
        with subtests.test(params=params):
            assert error_of(post(agent, "tools/call", params)) == (400, -32602)


def test_a_method_unknown_to_a_handshake_revision_is_named(subtests, expose):
    for revision in HANDSHAKE:
        for method in ["skills/list", "server/discover", "nonsense", ""]:
            with subtests.test(revision=revision, method=method):
                expose()
                response = post(Agent(Client(), revision=revision), method)
                assert error_of(response) == (200, -32601)
                assert (
                    json.loads(response.content)["error"]["message"]
                    == f"Method not found: {method}"
                )


def test_a_method_unknown_to_the_stateless_revision_is_not_found(subtests, agent):
    for method in ["initialize", "ping", "logging/setLevel", "nonsense"]:
        with subtests.test(method=method):
            assert error_of(post(agent, method)) == (404, -32601)


def test_a_stateless_request_needs_its_meta(subtests, agent):
    for member in ["protocolVersion", "clientCapabilities", None]:
        with subtests.test(member=member):
            message, headers = agent.frame("tools/list", {})
            if member is None:
                del message["params"]
            else:
                del message["params"]["_meta"][META + member]
            assert error_of(agent.post(message, headers)) == (400, -32602)


def test_a_header_that_contradicts_the_body_is_a_mismatch(subtests, agent):
    for headers in [
        {"Mcp_Method": "tools/call"},
        {"Mcp_Method": None},
        {"MCP_Protocol_Version": "2025-11-25"},
        {"MCP_Protocol_Version": None},
        {"Mcp_Name": "other"},
        {"Mcp_Name": None},
        {"Mcp_Name": "=?base64?!!?="},
    ]:
        with subtests.test(headers=headers):
            method, params = "tools/list", {}
            if "Mcp_Name" in headers:
                method, params = "tools/call", {"name": "word"}
            assert error_of(post(agent, method, params, **headers)) == (400, -32020)


def test_an_error_about_an_unknown_revision_lists_the_supported_ones(subtests, agent):
    for revision in ["1999-01-01", "2027-01-01"]:
        with subtests.test(revision=revision):
            message, headers = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {}
            if revision == "2027-01-01":
                meta = {META + "protocolVersion": revision, META + "clientCapabilities": {}}
                message["params"], headers = {"_meta": meta}, {"Mcp-Method": "tools/list"}
            response = agent.post(message, {**headers, "MCP-Protocol-Version": revision})
            assert error_of(response) == (400, -32022)
            data = json.loads(response.content)["error"]["data"]
            assert data == {"supported": list(REVISIONS), "requested": revision}


def test_a_refused_notification_gets_a_status_and_no_body(agent):
    message, headers = agent.frame("notifications/cancelled", {})
    del message["id"]
    response = agent.post(message, {**headers, "MCP-Protocol-Version": "1999-01-01"})
    assert (response.status_code, response.content) == (400, b"")


def test_an_invalid_cursor_is_refused(subtests, agent):
    for cursor in ["nonsense", "", "d29yZHM=", 5, [], "ü", "====", "é\ud7ff"]:
        with subtests.test(cursor=cursor):
            response = post(agent, "tools/list", {"cursor": cursor})
            assert error_of(response) == (400, -32602)
