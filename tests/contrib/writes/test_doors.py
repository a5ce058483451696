"""Narrowing at every door: the shop's toolsets over HTTP, in commands, over stdio, on the page."""

from __future__ import annotations

import io
import json

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from drf_mcp.test import MCPClient
from drf_mcp.tools import Tool
from drf_mcp.transports.in_process import LocalEndpoint
from drf_mcp.transports.stdio import StdioConnection
from example_project.shop.models import Customer
from tests.agents import Agent

SUPPORT, READONLY, LIBRARY = "/mcp/x/support", "/mcp/readonly", "/mcp/x/retrieval"
WRITE = {"name": "Never Made", "email": "never@example.com", "country": "DE"}


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def at(agent: Agent, path: str) -> Agent:
    return Agent(agent.http, revision=agent.revision, path=path)


def refused(envelope: dict) -> str:
    assert envelope["success"] is False
    assert envelope["data"]["error_code"] == "FORBIDDEN"
    return envelope["error"]


def test_the_toolset_of_the_shop_has_tools_and_not_all(carol):
    tools = at(carol, SUPPORT).tools()
    assert {"tickets_list", "customers_list", "orders_list"} <= tools.keys()
    assert not {"products_list", "orders_create", "customers_create"} & tools.keys()


@pytest.mark.parametrize("path", [SUPPORT, READONLY])
def test_nothing_is_written_by_any_way_to_call(carol, db, path):
    """A message, a batch, a command, a line of stdio and the test client."""
    before, told = Customer.objects.count(), []
    told.append(refused(at(carol, path).call_with("customers_create", WRITE).envelope))
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    message["params"] = {"name": "customers_create", "arguments": WRITE}
    older = Agent(carol.http, revision="2025-03-26", path=path)
    response = older.post([message], {"MCP-Protocol-Version": "2025-03-26"})
    (answer,) = json.loads(response.content)
    told.append(refused(json.loads(answer["result"]["content"][0]["text"])))
    lines: list[bytes] = []
    endpoint = LocalEndpoint(path)
    user = User.objects.get(username="carol")
    connection = StdioConnection(
        endpoint.make_server(), lambda: endpoint.make_caller(user), lines.append
    )
    connection.answer(connection.receive(json.dumps(message).encode()))
    told.append(refused(json.loads(lines[0])["result"]["structuredContent"]))
    client = MCPClient(path=path)
    client.force_authenticate(user)
    told.append(client.call_tool("customers_create", WRITE).error.message)
    out = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command(
            *("mcp_call", "customers_create", json.dumps(WRITE), "--as", "carol"),
            *("--endpoint", path),
            stdout=out,
        )
    assert ended.value.code == 1
    told.append(refused(json.loads(out.getvalue())))
    assert len(set(told)) == 1, told
    assert Customer.objects.count() == before
    assert not carol.call_with("customers_create", WRITE).is_error


def make_long(settings, agent: Agent) -> str:
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_RESULT_TOKENS": 1000}
    meta = agent.call("customers_list", page_size=50).envelope["meta"]
    return next(iter(meta["content_archive_hashes"]))


def test_what_a_tool_left_is_not_retrieved_where_the_tool_is_not(carol, settings):
    archive_id = make_long(settings, carol)
    retrieved = {
        path: at(carol, path).call("content_retrieve", archive_id=archive_id)
        for path in ("/mcp", READONLY, LIBRARY)
    }
    assert not retrieved["/mcp"].is_error
    assert not retrieved[READONLY].is_error
    assert retrieved[LIBRARY].code == "NOT_FOUND"


def test_over_plain_http_read_only_holds_for_what_was_left_as_well(
    carol, settings, http_of, monkeypatch
):
    archive_id = make_long(settings, carol)
    address = f"/mcp/content/?archive_id={archive_id}"
    http = http_of("carol")
    assert http.get(address).status_code == 200
    monkeypatch.setattr(Tool, "reads", False)
    assert http.get(address).status_code == 200
    settings.DRF_MCP = {**settings.DRF_MCP, "READ_ONLY": True}
    assert http.get(address).status_code == 404


@pytest.mark.slow
def test_the_page_shows_the_tools_that_are_left(client, settings, db):
    settings.DEBUG = True
    client.force_login(User.objects.get(username="carol"))
    page = client.get(READONLY, headers={"accept": "text/html"}).content.decode()
    assert "products_list" in page
    assert "customers_create" not in page
    missing = client.get(f"{READONLY}?tool=customers_create", headers={"accept": "text/html"})
    assert missing.status_code == 404


def test_a_browser_that_asks_for_an_unknown_toolset_is_refused(client, settings, db):
    settings.DEBUG = True
    client.force_login(User.objects.get(username="carol"))
    response = client.get("/mcp/x/nothing", headers={"accept": "text/html"})
    assert response.status_code == 404


# --- What tools say of each other -----------------------------------------------------------


@pytest.mark.slow
def test_no_tool_of_a_narrowed_list_names_one_that_is_not_in_it(carol, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "TOOLSETS": {"figures": ["*_aggregate"]}}
    whole, narrowed = carol.tools(), at(carol, "/mcp/x/figures").tools()
    assert "orders_list" in json.dumps(whole["orders_aggregate"])
    text = json.dumps(narrowed)
    assert not [n for n in whole.keys() - narrowed.keys() if "_" in n and n in text]


def test_no_error_names_a_tool_that_is_not_in_the_list(carol, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "TOOLSETS": {"one": ["orders_retrieve"]}}
    missing = {
        path: at(carol, path).call("orders_retrieve", pk=0) for path in ("/mcp", "/mcp/x/one")
    }
    assert "orders_list" in missing["/mcp"].data["remediation"]
    assert "orders_list" not in json.dumps(missing["/mcp/x/one"].envelope)


# --- Commands -----------------------------------------------------------------------------


def test_the_tools_of_an_endpoint_are_listed(db):
    text = run("mcp_tools", "--endpoint", READONLY)
    assert "products_list" in text
    assert "customers_create" not in text
    assert run("mcp_tools", "--endpoint", f"{READONLY}/") == text


def test_the_tools_of_an_endpoint_for_a_user_are_listed(db, carol):
    text = run("mcp_tools", "--endpoint", SUPPORT, "--as", "carol", "--json")
    assert {tool["name"] for tool in json.loads(text)} == set(at(carol, SUPPORT).tools())


def test_why_tells_of_each_narrowing_first(db, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "READ_ONLY": True}
    options = ("why", "customers_create", "--as", "carol", "--endpoint", SUPPORT)
    lines = [line.strip() for line in run("mcp_tools", *options).splitlines()]
    assert lines[0] == ("carol may not call customers_create: the server only has tools that read.")
    assert lines[2:6] == [
        "NO      narrowing: the server",
        "only has tools that read.",
        "NO      narrowing: the toolset support",
        "does not have it.",
    ]


def test_why_asks_a_function_of_read_only(db, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "READ_ONLY": lambda request: not request.user.is_staff}
    options = ("why", "customers_create", "--as")
    assert "the server only has tools that read" in run("mcp_tools", *options, "alice")
    assert "narrowing" not in run("mcp_tools", *options, "carol")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--endpoint", "/mcp/x/nothing"], "There is no toolset 'nothing'."),
        (["--endpoint", "/nowhere"], "The URLconf has no MCP endpoint at /nowhere."),
        (["--endpoint", "/api/products/"], "The URLconf has no MCP endpoint at /api/products/."),
        (
            ["show", "customers_create", "--endpoint", READONLY],
            "customers_create is not among the tools: this endpoint only has tools that read.",
        ),
    ],
)
def test_what_is_not_there_is_said(db, arguments, told):
    with pytest.raises(CommandError) as caught:
        run("mcp_tools", *arguments)
    assert str(caught.value) == told


@pytest.mark.slow
def test_each_endpoint_has_a_lock_file_of_its_own(db, tmp_path, monkeypatch, settings):
    monkeypatch.chdir(tmp_path)
    assert run("mcp_tools", "lock", "--endpoint", READONLY).startswith(
        "mcp-tools.mcp-readonly.lock.json holds "
    )
    document = json.loads((tmp_path / "mcp-tools.mcp-readonly.lock.json").read_text())
    assert set(document["tools"]) == LocalEndpoint(READONLY).tools.keys()
    assert "are the same" in run("mcp_tools", "check", "--endpoint", READONLY)
    assert "are the same" in run(
        "mcp_tools", "check", "mcp-tools.mcp-readonly.lock.json", "--endpoint", READONLY
    )
    settings.DRF_MCP = {**settings.DRF_MCP, "EXCLUDE": ["products_list"]}
    with pytest.raises(SystemExit):
        run("mcp_tools", "check", "--endpoint", READONLY)


def test_a_client_is_told_the_path(db):
    assert "http://127.0.0.1:8000/mcp/readonly" in run(
        "mcp_config", "claude-code", "--endpoint", READONLY, "--token", "x"
    )
    stdio = run("mcp_config", "claude-code", "--endpoint", READONLY, "--stdio", "--as", "carol")
    assert "mcp_stdio --endpoint /mcp/readonly" in stdio


def test_stdio_has_the_words_of_the_endpoint(db):
    server = LocalEndpoint(SUPPORT).make_server()
    assert server.get_server_info()["name"] == "shop-support"
    assert LocalEndpoint().make_server().get_server_info()["name"] == "shop"


# --- OAuth --------------------------------------------------------------------------------


def test_each_endpoint_has_metadata_of_its_own(settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "AUTHORIZATION_SERVERS": ["https://sign-in.example"]}
    from django.urls import include, path

    patterns = [
        path("", include("drf_mcp.urls")),
        path("mcp/", include("drf_mcp.urls.toolsets")),
    ]
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": patterns})
    base = "/.well-known/oauth-protected-resource"
    found = {p: Client().get(f"{base}{p}").json()["resource"] for p in ("", READONLY, "/mcp/x/a")}
    assert found == {
        "": "http://testserver/mcp",
        READONLY: "http://testserver/mcp/readonly",
        "/mcp/x/a": "http://testserver/mcp/x/a",
    }
