"""A narrowing takes tools out of the list and refuses their calls."""

from __future__ import annotations

import json

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.urls import path

from drf_mcp.access.narrowing import Narrowing
from drf_mcp.exposure import mcp_tool, registry
from drf_mcp.views import MCPView
from tests.agents import Agent
from tests.dispatch.narrowing import views
from tests.dispatch.narrowing.conftest import EVERY, READS, STOCK


def callable_tools(agent: Agent) -> set[str]:
    """Return the names of all tools that run when the agent calls them."""
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


def test_without_narrowing_an_endpoint_has_every_tool(endpoint):
    assert_offers(endpoint(), EVERY)


def test_patterns_select_by_method_and_path_name_or_tag(endpoint):
    agent = endpoint(tools=["GET /invoices/*", "*_destroy", "tag:nothing"])
    assert_offers(agent, {"invoices_list", "invoices_retrieve", "invoices_destroy"})


def test_an_empty_list_of_patterns_leaves_nothing(endpoint):
    assert_offers(endpoint(tools=[]), set())


def test_a_read_only_endpoint_has_the_tools_that_read(endpoint):
    """A POST that is declared read_only is one of them, a GET that is declared to write is not."""
    assert_offers(endpoint(read_only=True), READS)


def test_a_wrong_option_is_an_error_of_as_view(subtests):
    for options, message in [
        ({"tools": "tag:stock"}, "tools must be a list"),
        ({"tools": ["FETCH *"]}, "tools holds 'FETCH "),
        ({"read_only": None}, "read_only must be True or False"),
        ({"toolsets": {"a": "tag:stock"}}, "toolsets must be a dict"),
        ({"toolsets": {"a/b": []}}, "toolsets must be a dict"),
        ({"server_name": ""}, "server_name must be a text"),
    ]:
        with subtests.test(options=options, message=message):
            with pytest.raises(ImproperlyConfigured, match=message):
                MCPView.as_view(**options)


# --- Toolsets -----------------------------------------------------------------------------


def test_a_tag_is_a_toolset(agent_at):
    assert_offers(agent_at("/mcp/x/stock"), STOCK)


def test_an_endpoint_can_declare_its_toolsets(serve):
    view = MCPView.as_view(toolsets={"mine": ["tag:stock"]}, read_only=True)
    serve(path("own/<toolset>/mcp", view), TOOLSETS={"theirs": ["*"]})
    assert_offers(Agent(Client(), path="/own/mine/mcp"), {"search"})
    assert Agent(Client(), path="/own/theirs/mcp").error("tools/list")["code"] == 404


def test_the_readonly_url_has_the_tools_that_read(agent_at):
    assert_offers(agent_at("/mcp/readonly"), READS)


def test_an_unknown_toolset_in_the_path_is_404(subtests, agent_at):
    for name in ["nothing", "*", "s*", "[s]tock", "stoc?", "TAG:stock", "%20"]:
        with subtests.test(name=name):
            agent = agent_at(f"/mcp/x/{name}")
            message, headers = agent.frame("tools/list", {})
            response = agent.post(message, headers)
            error = json.loads(response.content)["error"]
            assert (response.status_code, error["code"]) == (404, 404)
            assert "There is no toolset" in error["message"]
            assert "stock" not in error["message"] or "stock" in name


def test_a_caller_who_is_refused_does_not_learn_which_toolsets_exist(serve):
    serve(PERMISSION_CLASSES=["rest_framework.permissions.IsAuthenticated"])
    codes = {
        Agent(Client(), path=f"/mcp/x/{name}").error("tools/list")["code"]
        for name in ("stock", "nothing")
    }
    assert codes == {401}


# --- The header ---------------------------------------------------------------------------


def test_a_header_selects_a_toolset(agent_at):
    assert_offers(agent_at("/mcp", mcp_toolsets="stock"), STOCK)


def test_a_header_narrows_an_endpoint_that_is_narrowed(agent_at):
    assert_offers(agent_at("/mcp/readonly", mcp_toolsets="stock"), {"search"})
    assert_offers(agent_at("/mcp/x/billing", mcp_toolsets="stock"), {"search"})


def test_a_header_with_an_unknown_toolset_is_refused(subtests, agent_at):
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


def test_a_header_without_a_name_is_refused(subtests, agent_at):
    """It does not open every tool to a client that wanted to narrow."""
    for value in ["", " ", ",", " , "]:
        with subtests.test(value=value):
            error = agent_at("/mcp", mcp_toolsets=value).error("tools/list")
            assert error["message"] == "The header MCP-Toolsets names no toolset."


# --- READ_ONLY ----------------------------------------------------------------------------


def test_read_only_leaves_the_tools_that_read(serve):
    serve(READ_ONLY=True)
    assert_offers(Agent(Client()), READS)


def fails(request) -> bool:
    raise RuntimeError("unknown")


def test_if_the_read_only_function_fails_nothing_runs(serve):
    serve(READ_ONLY=fails)
    agent = Agent(Client(raise_request_exception=False))
    assert agent.error("tools/list")["code"] == -32603
    assert "error" in agent.request("tools/call", name="invoices_list", arguments={})
    assert views.RAN == []


# --- Credentials --------------------------------------------------------------------------


def test_a_credential_can_narrow(subtests, agent_at):
    for badge, names in [("reads", READS), ("stock", STOCK), ("nothing", set())]:
        with subtests.test(badge=badge, names=names):
            assert_offers(agent_at("/mcp", authorization=f"Badge {badge}"), names)


def test_a_credential_and_a_header_narrow_together(agent_at):
    """Toolsets are resolved after authentication, when the credential is known."""
    agent = agent_at("/mcp", authorization="Badge reads", mcp_toolsets="stock")
    assert_offers(agent, {"search"})


def test_a_credential_narrows_views_with_other_authentication_classes(agent_at, monkeypatch):
    monkeypatch.setattr(views.InvoiceViewSet, "authentication_classes", [views.OtherBadge])
    assert_offers(agent_at("/mcp", authorization="Badge reads"), READS)


def test_a_narrowing_of_another_type_is_an_error(agent_at, monkeypatch):
    monkeypatch.setitem(views.Badge.narrowings, "reads", ["tag:stock"])
    agent = agent_at("/mcp", authorization="Badge reads")
    agent.http.raise_request_exception = False
    assert "error" in agent.request("tools/call", name="invoices_create", arguments={})
    assert views.RAN == []


# --- Texts for the caller -----------------------------------------------------------------


def test_a_refused_call_names_the_narrowing_that_removed_the_tool(subtests, agent_at):
    for at, headers, reason in [
        ("/mcp/readonly", {}, "this endpoint only has tools that read"),
        ("/mcp/x/stock", {}, "the toolset stock does not have it"),
        ("/mcp", {"mcp_toolsets": "stock"}, "the header MCP-Toolsets (stock) does not have it"),
        ("/mcp", {"authorization": "Badge reads"}, "the badge only has tools that read"),
    ]:
        with subtests.test(at=at, headers=headers, reason=reason):
            result = agent_at(at, **headers).call("invoices_create", nonsense=1)
            assert result.is_error
            assert result.code == "FORBIDDEN"
            assert result.envelope["error"] == f"invoices_create is not available here: {reason}."
            assert result.data["remediation"].startswith("Do not repeat the call")
            assert views.RAN == []


def test_the_list_says_how_many_tools_are_hidden(agent_at):
    result = agent_at("/mcp/x/stock", authorization="Badge stock").result("tools/list")
    assert result["_meta"]["io.github.drf-mcp/narrowing"] == {
        "by": ["the toolset stock", "the badge"],
        "hidden": len(EVERY - STOCK),
    }


def test_tools_that_the_caller_may_not_see_are_not_counted_as_hidden(agent_at):
    """SecretView is for staff only."""
    hidden = [
        agent_at("/mcp/x/billing", authorization=f"Badge {badge}").result("tools/list")["_meta"][
            "io.github.drf-mcp/narrowing"
        ]["hidden"]
        for badge in ("all", "nothing")
    ]
    assert hidden == [len({"count", "clean", "secret"}), len(EVERY)]


def test_a_narrowed_list_is_not_cached_for_others(agent_at):
    assert agent_at("/mcp").result("tools/list")["cacheScope"] in ("public", "private")
    narrowed = agent_at("/mcp", mcp_toolsets="billing").result("tools/list")
    assert narrowed["cacheScope"] == "private"


# --- Batches ------------------------------------------------------------------------------


def test_a_narrowing_refuses_a_value_that_is_no_list_of_patterns(subtests):
    for patterns in ["count", ["api/*"], [5]]:
        with subtests.test(patterns=patterns):
            with pytest.raises(ImproperlyConfigured, match="Narrowing"):
                Narrowing("a", patterns)


def test_a_narrowing_is_checked_before_the_headers_of_a_tool(serve):
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
