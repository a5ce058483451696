"""Narrowed endpoints of the shop over HTTP, in commands, over stdio and on the page."""

from __future__ import annotations

import io
import json

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from drf_mcp.contrib.tokens.authentication import AgentTokenAuthentication
from drf_mcp.contrib.tokens.models import AgentToken
from drf_mcp.test import MCPClient
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


@pytest.mark.parametrize("path", [SUPPORT, READONLY])
def test_no_transport_writes_at_a_narrowed_endpoint(carol, db, path):
    """A message, a command, a line of stdio and the test client."""
    before, errors = Customer.objects.count(), []
    errors.append(refused(at(carol, path).call_with("customers_create", WRITE).envelope))
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    message["params"] = {"name": "customers_create", "arguments": WRITE}
    lines: list[bytes] = []
    endpoint = LocalEndpoint(path)
    user = User.objects.get(username="carol")
    connection = StdioConnection(
        endpoint.make_server(), lambda: endpoint.make_caller(user), lines.append
    )
    connection.answer(connection.receive(json.dumps(message).encode()))
    errors.append(refused(json.loads(lines[0])["result"]["structuredContent"]))
    client = MCPClient(path=path)
    client.force_authenticate(user)
    errors.append(client.call_tool("customers_create", WRITE).error.message)
    out = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command(
            *("mcp_call", "customers_create", json.dumps(WRITE), "--as", "carol"),
            *("--endpoint", path),
            stdout=out,
        )
    assert ended.value.code == 1
    errors.append(refused(json.loads(out.getvalue())))
    assert len(set(errors)) == 1, errors
    assert Customer.objects.count() == before
    assert not carol.call_with("customers_create", WRITE).is_error


def archive_a_long_result(settings, agent: Agent) -> str:
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_RESULT_TOKENS": 1000}
    meta = agent.call("customers_list", page_size=50).envelope["meta"]
    return next(iter(meta["content_archive_hashes"]))


def test_archived_content_needs_an_endpoint_with_its_tool(carol, settings):
    archive_id = archive_a_long_result(settings, carol)
    retrieved = {
        path: at(carol, path).call("content_retrieve", archive_id=archive_id)
        for path in ("/mcp", READONLY, LIBRARY)
    }
    assert not retrieved["/mcp"].is_error
    assert not retrieved[READONLY].is_error
    assert retrieved[LIBRARY].code == "NOT_FOUND"


@pytest.mark.slow
def test_the_page_of_a_narrowed_endpoint_shows_its_tools(client, settings, db):
    settings.DEBUG = True
    client.force_login(User.objects.get(username="carol"))
    page = client.get(READONLY, headers={"accept": "text/html"}).content.decode()
    assert "products_list" in page
    assert "customers_create" not in page
    missing = client.get(f"{READONLY}?tool=customers_create", headers={"accept": "text/html"})
    assert missing.status_code == 404


# --- The names of excluded tools ------------------------------------------------------------


@pytest.mark.slow
def test_no_definition_names_an_excluded_tool(carol, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "TOOLSETS": {"figures": ["*_aggregate"]}}
    whole, narrowed = carol.tools(), at(carol, "/mcp/x/figures").tools()
    assert "orders_list" in json.dumps(whole["orders_aggregate"])
    text = json.dumps(narrowed)
    assert not [n for n in whole.keys() - narrowed.keys() if "_" in n and n in text]


def test_no_error_names_an_excluded_tool(carol, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "TOOLSETS": {"one": ["orders_retrieve"]}}
    missing = {
        path: at(carol, path).call("orders_retrieve", pk=0) for path in ("/mcp", "/mcp/x/one")
    }
    assert "orders_list" in missing["/mcp"].data["remediation"]
    assert "orders_list" not in json.dumps(missing["/mcp/x/one"].envelope)


@pytest.mark.parametrize("path", ["/mcp", "/mcp/x/two"])
def test_no_error_names_a_tool_that_a_token_does_not_open(db, path, settings):
    """Which tools the token opens is known only when it is authenticated."""
    settings.DRF_MCP = {
        **settings.DRF_MCP,
        "TOOLSETS": {"two": ["orders_retrieve", "orders_list"]},
        "AUTHENTICATION_CLASSES": [AgentTokenAuthentication],
    }
    authentication = {"DEFAULT_AUTHENTICATION_CLASSES": [AgentTokenAuthentication]}
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, **authentication}
    for tools, is_named in ([["orders_*"], True], [["orders_retrieve"], False]):
        token = AgentToken(user=User.objects.get(username="carol"), name="Agent", tools=tools)
        headers = {"authorization": f"Bearer {token.issue()}"}
        token.save()
        missing = Agent(Client(headers=headers), path=path).call("orders_retrieve", pk=0)
        assert missing.code == "NOT_FOUND"
        assert ("orders_list" in json.dumps(missing.envelope)) is is_named


# --- Commands -----------------------------------------------------------------------------


def test_mcp_tools_lists_the_tools_of_an_endpoint(db):
    text = run("mcp_tools", "--endpoint", READONLY)
    assert "products_list" in text
    assert "customers_create" not in text
    assert run("mcp_tools", "--endpoint", f"{READONLY}/") == text


def test_why_names_each_narrowing_first(db, settings):
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


@pytest.mark.parametrize(
    ("arguments", "message"),
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
def test_an_unknown_endpoint_and_an_excluded_tool_are_errors(db, arguments, message):
    with pytest.raises(CommandError) as caught:
        run("mcp_tools", *arguments)
    assert str(caught.value) == message


# --- OAuth --------------------------------------------------------------------------------
