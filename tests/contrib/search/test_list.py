"""The tools that an endpoint with tool search lists."""

from __future__ import annotations

import json

import pytest
from django.urls import path

from drf_mcp.exposure import registry
from drf_mcp.views import MCPView
from tests.contrib.search.conftest import SEARCH_TOOLS, SearchAgent

PINNED = {"content_retrieve"}
READ_ONLY, DESTRUCTIVE = "readOnlyHint", "destructiveHint"


@pytest.fixture
def serve(settings, agent_of):
    """Serve the shop at an endpoint with options, and return an agent of alice there."""

    def serve(**options) -> SearchAgent:
        from example_project.urls import urlpatterns

        own = [path("few/mcp", MCPView.as_view(**options)), *urlpatterns]
        settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": own})
        registry.reload()
        return SearchAgent(agent_of("alice").http, path="/few/mcp")

    return serve


def test_three_tools_are_listed_in_place_of_the_others(agent):
    assert list(agent.tools()) == ["tools_search", "tools_read", "tools_write", *PINNED]


def test_the_listed_definitions_have_less_than_1140_characters(agent):
    """The encoder o200k_base makes a token of about 4 characters here."""
    shown = [
        {key: tool[key] for key in ("name", "description", "inputSchema")}
        for tool in agent.tools().values()
    ]
    assert len(json.dumps(shown, separators=(",", ":"))) < 1140


def test_tools_of_other_features_stay_in_the_list(serve):
    assert "tools_compose" in serve(tool_search=True, compose=True).tools()


@pytest.mark.slow
def test_without_the_setting_all_tools_are_listed(alice, configured):
    configured(TOOL_SEARCH=False)
    assert not SEARCH_TOOLS & set(alice.tools())
    assert alice.error("tools/call", name="tools_search")["message"] == (
        "Unknown tool: tools_search."
    )


@pytest.mark.slow
def test_an_endpoint_overrides_the_setting(serve, configured):
    assert not SEARCH_TOOLS & set(serve(tool_search=False).tools())
    configured(TOOL_SEARCH=False)
    assert set(serve(tool_search=True).tools()) == SEARCH_TOOLS | PINNED


def test_tools_are_pinned_by_patterns_of_the_endpoint(serve):
    agent = serve(tool_search=True, pinned=["orders_l*", "GET */quote/"])
    assert set(agent.tools()) - SEARCH_TOOLS - PINNED == {"orders_list"}


@pytest.mark.slow
def test_a_pinned_tool_has_the_definition_of_the_whole_list(agent, alice, configured):
    configured(PINNED_TOOLS=["orders_list"])
    listed = agent.tools()["orders_list"]
    configured(TOOL_SEARCH=False)
    assert alice.tools()["orders_list"] == listed


def test_the_three_tools_are_left_out_where_they_have_nothing_to_run_or_find(serve):
    assert set(serve(read_only=True).tools()) == SEARCH_TOOLS - {"tools_write"} | PINNED
    assert set(serve(tools=[]).tools()) == PINNED


def test_every_revision_lists_and_runs_the_three_tools(subtests, agent):
    for revision in ["2026-07-28", "2025-06-18"]:
        with subtests.test(revision=revision):
            agent.revision = revision
            assert set(agent.tools()) >= SEARCH_TOOLS
            assert agent.run("orders_list", {"page_size": 1}).data["results"]
