"""What takes tools away takes them out of the list and refuses their calls."""

from __future__ import annotations

import json

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.urls import path

from drf_mcp.access.narrowing import Narrowing
from drf_mcp.tools import mcp_tool, registry
from drf_mcp.views import MCPView
from tests.agents import Agent
from tests.dispatch.narrowing import views
from tests.dispatch.narrowing.conftest import EVERY, READS, STOCK


def callable_tools(agent: Agent) -> set[str]:
    """Return the tools whose calls are let through, of all there are."""
    found = set()
    for name, tool in registry.tools().items():
        arguments = {"pk": "1"} if "{pk}" in tool.endpoint.route.path else {}
        before = len(views.RAN)
        result = agent.call(name, **arguments)
        assert result.is_error is (len(views.RAN) == before)
        found |= set() if result.is_error else {name}
    return found


def assert_offers(agent: Agent, names: set[str]) -> None:
    assert set(agent.tools()) == names
    assert callable_tools(agent) == names


# --- Endpoints ----------------------------------------------------------------------------


def test_without_narrowing_there_is_every_tool(endpoint):
    assert_offers(endpoint(), EVERY)


def test_an_endpoint_with_patterns_has_the_tools_that_match(endpoint):
    assert_offers(endpoint(tools=["tag:stock"]), STOCK)


def test_patterns_are_those_of_include(endpoint):
    agent = endpoint(tools=["GET /invoices/*", "*_destroy", "tag:nothing"])
    assert_offers(agent, {"invoices_list", "invoices_retrieve", "invoices_destroy"})


def test_an_empty_list_of_patterns_leaves_nothing(endpoint):
    assert_offers(endpoint(tools=[]), set())


def test_an_endpoint_that_is_read_only_has_the_tools_that_read(endpoint):
    """POST counts if the project said that it reads; GET does not if it said that it writes."""
    assert_offers(endpoint(read_only=True), READS)


def test_a_class_can_narrow_as_well(endpoint, serve):
    class Stock(MCPView):
        tools = ["tag:stock"]
        read_only = True

    serve(path("own/mcp", Stock.as_view()))
    assert_offers(Agent(Client(), path="/own/mcp"), {"search"})


def test_a_wrong_option_is_refused_when_the_view_is_made(subtests):
    for options, told in [
        ({"tools": "tag:stock"}, "tools must be a list"),
        ({"tools": ["FETCH *"]}, "tools holds 'FETCH "),
        ({"read_only": None}, "read_only must be True or False"),
        ({"toolsets": {"a": "tag:stock"}}, "toolsets must be a dict"),
        ({"toolsets": {"a/b": []}}, "toolsets must be a dict"),
        ({"server_name": ""}, "server_name must be a text"),
    ]:
        with subtests.test(options=options, told=told):
            with pytest.raises(ImproperlyConfigured, match=told):
                MCPView.as_view(**options)


def test_an_endpoint_says_who_it_is(endpoint):
    agent = endpoint(
        server_name="billing", server_title="Invoices", server_version="7", instructions="Ask."
    )
    found = agent.result("server/discover")
    assert found["instructions"] == "Ask."
    info = found["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert info == {"name": "billing", "title": "Invoices", "version": "7"}


def test_an_endpoint_without_a_name_of_its_own_has_that_of_the_settings(endpoint, settings):
    agent = endpoint()
    settings.DRF_MCP = {**settings.DRF_MCP, "SERVER_NAME": "shop", "INSTRUCTIONS": "Look."}
    found = agent.result("server/discover")
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "shop"
    assert found["instructions"] == "Look."


# --- Toolsets -----------------------------------------------------------------------------


def test_a_tag_is_a_toolset(agent_at):
    assert_offers(agent_at("/mcp/x/stock"), STOCK)


def test_no_post_is_redirected_for_a_slash(subtests, agent_at):
    for slash in ["", "/"]:
        with subtests.test(slash=slash):
            assert set(agent_at(f"/mcp/x/stock{slash}").tools()) == STOCK
            assert set(agent_at(f"/mcp/readonly{slash}").tools()) == READS


def test_a_toolset_of_the_settings_comes_before_a_tag(serve):
    serve(TOOLSETS={"stock": ["count"]})
    assert_offers(Agent(Client(), path="/mcp/x/stock"), {"count"})


def test_an_endpoint_can_have_toolsets_of_its_own(serve):
    view = MCPView.as_view(toolsets={"mine": ["tag:stock"]}, read_only=True)
    serve(path("own/<toolset>/mcp", view), TOOLSETS={"theirs": ["*"]})
    assert_offers(Agent(Client(), path="/own/mine/mcp"), {"search"})
    assert Agent(Client(), path="/own/theirs/mcp").error("tools/list")["code"] == 404


def test_the_read_only_endpoint_has_the_tools_that_read(agent_at):
    assert_offers(agent_at("/mcp/readonly"), READS)


def test_a_toolset_has_a_name_of_its_own(agent_at, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "SERVER_NAME": "shop", "SERVER_TITLE": "Shop"}
    info = agent_at("/mcp/x/stock").result("server/discover")["_meta"]
    named = info["io.modelcontextprotocol/serverInfo"]
    assert (named["name"], named["title"]) == ("shop-stock", "Shop: stock")


def test_an_unknown_toolset_is_refused_at_the_door(subtests, agent_at):
    for name in ["nothing", "*", "s*", "[s]tock", "stoc?", "TAG:stock", "%20"]:
        with subtests.test(name=name):
            agent = agent_at(f"/mcp/x/{name}")
            message, headers = agent.frame("tools/list", {})
            response = agent.post(message, headers)
            error = json.loads(response.content)["error"]
            assert (response.status_code, error["code"]) == (404, 404)
            assert "There is no toolset" in error["message"]
            assert "stock" not in error["message"] or "stock" in name


def test_a_mistyped_toolset_of_the_settings_is_told(serve):
    serve(TOOLSETS={"warehouse": ["count"]})
    error = Agent(Client(), path="/mcp/x/warehous").error("tools/list")
    assert error["message"] == "There is no toolset 'warehous'. Did you mean warehouse?"


def test_who_is_not_let_in_is_not_told_which_toolsets_there_are(serve):
    serve(PERMISSION_CLASSES=["rest_framework.permissions.IsAuthenticated"])
    codes = {
        Agent(Client(), path=f"/mcp/x/{name}").error("tools/list")["code"]
        for name in ("stock", "nothing")
    }
    assert codes == {401}


# --- The header ---------------------------------------------------------------------------


def test_a_header_narrows_to_toolsets(agent_at):
    assert_offers(agent_at("/mcp", mcp_toolsets="stock"), STOCK)


def test_a_header_of_several_toolsets_has_the_tools_of_each(serve, agent_at):
    serve(TOOLSETS={"reading": ["GET /invoices/*"]})
    agent = agent_at("/mcp", mcp_toolsets=" stock , reading,stock")
    assert_offers(agent, STOCK | {"invoices_list", "invoices_retrieve"})


def test_a_header_narrows_further(agent_at):
    assert_offers(agent_at("/mcp/readonly", mcp_toolsets="stock"), {"search"})
    assert_offers(agent_at("/mcp/x/billing", mcp_toolsets="stock"), {"search"})


def test_a_header_that_names_an_unknown_toolset_is_refused(subtests, agent_at):
    for value in ["nothing", "stock,nothing", "stock;billing", "*"]:
        with subtests.test(value=value):
            agent = agent_at("/mcp", mcp_toolsets=value)
            message, headers = agent.frame("tools/call", {"name": "count"})
            response = agent.post(message, headers)
            assert response.status_code == 400
            assert (
                "MCP-Toolsets: There is no toolset"
                in json.loads(response.content)["error"]["message"]
            )
            assert views.RAN == []


def test_a_header_that_names_none_is_refused(subtests, agent_at):
    """Whoever meant to narrow is not given everything."""
    for value in ["", " ", ",", " , "]:
        with subtests.test(value=value):
            error = agent_at("/mcp", mcp_toolsets=value).error("tools/list")
            assert error["message"] == "The header MCP-Toolsets names no toolset."


# --- READ_ONLY ----------------------------------------------------------------------------


def test_read_only_leaves_the_tools_that_read(serve):
    serve(READ_ONLY=True)
    assert_offers(Agent(Client()), READS)


def is_no_staff(request) -> bool:
    return not request.user.is_staff


def fails(request) -> bool:
    raise RuntimeError("nobody knows")


def test_read_only_can_depend_on_the_caller(serve, agent_at):
    serve(READ_ONLY="tests.dispatch.narrowing.test_narrowing.is_no_staff")
    assert_offers(agent_at("/mcp"), READS)
    assert_offers(agent_at("/mcp", authorization="Badge all"), EVERY | {"secret"})


def test_where_read_only_fails_nothing_runs(serve):
    serve(READ_ONLY=fails)
    agent = Agent(Client(raise_request_exception=False))
    assert agent.error("tools/list")["code"] == -32603
    assert "error" in agent.request("tools/call", name="invoices_list", arguments={})
    assert views.RAN == []


# --- Credentials --------------------------------------------------------------------------


def test_a_credential_narrows(subtests, agent_at):
    for badge, names in [("reads", READS), ("stock", STOCK), ("nothing", set())]:
        with subtests.test(badge=badge, names=names):
            assert_offers(agent_at("/mcp", authorization=f"Badge {badge}"), names)


def test_a_credential_narrows_where_a_header_does(agent_at):
    """Toolsets are looked up after authentication, which is when the credential is known."""
    agent = agent_at("/mcp", authorization="Badge reads", mcp_toolsets="stock")
    assert_offers(agent, {"search"})


def test_a_credential_narrows_views_that_authenticate_in_another_way(agent_at, monkeypatch):
    monkeypatch.setattr(views.InvoiceViewSet, "authentication_classes", [views.OtherBadge])
    assert_offers(agent_at("/mcp", authorization="Badge reads"), READS)


def test_a_narrowing_of_another_kind_is_an_error(agent_at, monkeypatch):
    monkeypatch.setitem(views.Badge.narrowings, "reads", ["tag:stock"])
    agent = agent_at("/mcp", authorization="Badge reads")
    agent.http.raise_request_exception = False
    assert "error" in agent.request("tools/call", name="invoices_create", arguments={})
    assert views.RAN == []


# --- What is said -------------------------------------------------------------------------


def test_a_refused_call_says_what_takes_the_tool_away(subtests, agent_at):
    for at, headers, told in [
        ("/mcp/readonly", {}, "this endpoint only has tools that read"),
        ("/mcp/x/stock", {}, "the toolset stock does not have it"),
        (
            "/mcp",
            {"mcp_toolsets": "stock"},
            "the header MCP-Toolsets (stock) does not have it",
        ),
        ("/mcp", {"authorization": "Badge reads"}, "the badge only has tools that read"),
    ]:
        with subtests.test(at=at, headers=headers, told=told):
            result = agent_at(at, **headers).call("invoices_create", nonsense=1)
            assert result.is_error
            assert result.code == "FORBIDDEN"
            assert result.envelope["error"] == f"invoices_create is not available here: {told}."
            assert result.data["remediation"].startswith("Do not repeat the call")
            assert views.RAN == []


def test_a_name_that_no_tool_has_is_likened_to_offered_tools_alone(agent_at):
    error = agent_at("/mcp/readonly").error("tools/call", name="invoices_destro", arguments={})
    assert "invoices_destroy" not in error["message"]


def test_the_list_counts_what_the_caller_would_see_otherwise(agent_at):
    result = agent_at("/mcp/x/stock", authorization="Badge stock").result("tools/list")
    assert result["_meta"]["io.github.drf-mcp/narrowing"] == {
        "by": ["the toolset stock", "the badge"],
        "hidden": len(EVERY - STOCK),
    }


def test_the_count_is_of_no_tools_that_the_caller_may_not_see(agent_at):
    """SecretView is for staff."""
    hidden = [
        agent_at("/mcp/x/billing", authorization=f"Badge {badge}").result("tools/list")["_meta"][
            "io.github.drf-mcp/narrowing"
        ]["hidden"]
        for badge in ("all", "nothing")
    ]
    assert hidden == [len({"count", "clean", "secret"}), len(EVERY)]


def test_a_list_that_nothing_narrows_counts_nothing(agent_at):
    assert "io.github.drf-mcp/narrowing" not in agent_at("/mcp").result("tools/list")["_meta"]


def test_a_narrowed_list_is_nobody_elses(agent_at):
    assert agent_at("/mcp").result("tools/list")["cacheScope"] in ("public", "private")
    narrowed = agent_at("/mcp", mcp_toolsets="billing").result("tools/list")
    assert narrowed["cacheScope"] == "private"


def test_instructions_are_about_the_tools_that_are_left(agent_at):
    text = agent_at("/mcp/x/stock").result("server/discover")["instructions"]
    assert "search" in text
    assert "invoices" not in text


def test_pages_of_a_narrowed_list_are_narrowed(serve):
    serve(TOOLS_PAGE_SIZE=1)
    assert set(Agent(Client(), path="/mcp/readonly").tools()) == READS


# --- Batches ------------------------------------------------------------------------------


def test_a_batch_is_narrowed_message_by_message(agent_at):
    agent = agent_at("/mcp", authorization="Badge reads")
    agent.revision = "2025-03-26"
    names = ["invoices_create", "invoices_list", "count", "invoices_list", "clean"]
    messages = [
        {"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": name}}
        for i, name in enumerate(names)
    ]
    answers = json.loads(agent.post(messages, {"MCP-Protocol-Version": "2025-03-26"}).content)
    failed = [bool(a["result"].get("isError")) for a in sorted(answers, key=lambda a: a["id"])]
    assert failed == [True, False, True, False, True]
    assert views.RAN == ["invoices_list"] * 2


def test_a_narrowing_takes_a_list_of_patterns():
    assert Narrowing("a", ["count"]) == Narrowing("a", ("count",))


def test_a_narrowing_refuses_what_is_no_list_of_patterns(subtests):
    for patterns in ["count", ["api/*"], [5], {"count"}]:
        with subtests.test(patterns=patterns):
            with pytest.raises(ImproperlyConfigured, match="Narrowing"):
                Narrowing("a", patterns)


def test_a_narrowing_of_nothing_allows_every_tool(serve):
    serve()
    assert all(Narrowing("nobody").allows(tool) for tool in registry.tools().values())


def test_a_narrowed_credential_learns_nothing_of_the_headers_of_a_tool(serve):
    class Regions(views.CountView):
        @mcp_tool(name="regions", query={"region": {"type": "string", "x-mcp-header": "Region"}})
        def get(self, request):
            return views.answer("regions")

    serve(path("regions/", Regions.as_view()))

    def call(badge: str) -> str:
        agent = Agent(Client(headers={"authorization": f"Badge {badge}"}))
        return str(agent.request("tools/call", name="regions", arguments={"region": "a"}))

    assert "the badge does not have it" in call("nothing")
    assert "Mcp-Param-Region" in call("all")
