"""What an endpoint lists in place of all of its tools."""

from __future__ import annotations

import json

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.urls import path
from django.utils import translation

from drf_mcp.tools import registry
from drf_mcp.views import MCPView
from tests.contrib.search.conftest import SURFACE, SurfaceAgent

PINNED = {"content_retrieve"}
READ_ONLY, DESTRUCTIVE = "readOnlyHint", "destructiveHint"


@pytest.fixture
def serve(settings, agent_of):
    """Serve the shop's tools at an endpoint with options, and return alice's agent there."""

    def serve(**options) -> SurfaceAgent:
        from example_project.urls import urlpatterns

        own = [path("few/mcp", MCPView.as_view(**options)), *urlpatterns]
        settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": own})
        registry.reload()
        return SurfaceAgent(agent_of("alice").http, path="/few/mcp")

    return serve


def test_three_tools_stand_for_those_that_are_not_listed(agent):
    assert list(agent.tools()) == ["tools_search", "tools_read", "tools_write", *PINNED]


def test_what_is_listed_of_itself_takes_250_tokens(agent):
    """With the encoder of o200k_base, which has 4 characters a token here, and with no other."""
    shown = [
        {key: tool[key] for key in ("name", "description", "inputSchema")}
        for tool in agent.tools().values()
    ]
    assert len(json.dumps(shown, separators=(",", ":"))) < 1140


def test_tools_that_another_feature_lists_stay_in_the_list(serve):
    assert "tools_compose" in serve(tool_search=True, compose=True).tools()


@pytest.mark.slow
def test_without_the_setting_all_are_listed(alice, configured):
    configured(TOOL_SEARCH=False)
    assert not SURFACE & set(alice.tools())
    assert alice.error("tools/call", name="tools_search")["message"] == (
        "Unknown tool: tools_search."
    )


@pytest.mark.slow
def test_an_endpoint_chooses_for_itself(serve, configured):
    assert not SURFACE & set(serve(tool_search=False).tools())
    configured(TOOL_SEARCH=False)
    assert set(serve(tool_search=True).tools()) == SURFACE | PINNED


def test_tools_are_pinned_by_patterns_of_the_endpoint(serve):
    agent = serve(tool_search=True, pinned=["orders_l*", "GET */quote/"])
    assert set(agent.tools()) - SURFACE - PINNED == {"orders_list"}


@pytest.mark.slow
def test_hosts_that_search_tools_keep_those_that_are_pinned_in_view(alice, configured):
    configured(TOOL_SEARCH=False, PINNED_TOOLS=["tickets_list"])
    kept = {
        name
        for name, tool in alice.tools().items()
        if tool.get("_meta", {}).get("anthropic/alwaysLoad") is True
    }
    assert kept == {"tickets_list"}


def test_tools_are_pinned_by_patterns_of_the_project(agent, configured):
    configured(PINNED_TOOLS=["tickets_*"])
    pinned = set(agent.tools()) - SURFACE - PINNED
    assert pinned == {name for name in registry.tools() if name.startswith("tickets_")}


@pytest.mark.slow
def test_a_pinned_tool_is_listed_as_it_would_be_among_all(agent, alice, configured):
    configured(PINNED_TOOLS=["orders_list"])
    listed = agent.tools()["orders_list"]
    configured(TOOL_SEARCH=False)
    assert alice.tools()["orders_list"] == listed


def test_patterns_of_a_wrong_kind_are_refused():
    with pytest.raises(ImproperlyConfigured, match="pinned"):
        MCPView.as_view(tool_search=True, pinned=[3])


def test_the_hints_are_those_of_what_the_tools_run(agent):
    tools = agent.tools()
    hints = {name: tools[name]["annotations"] for name in SURFACE}
    assert [hints[n][READ_ONLY] for n in sorted(SURFACE)] == [True, True, False]
    assert hints["tools_write"][DESTRUCTIVE]


def test_what_only_creates_destroys_nothing(serve):
    agent = serve(tool_search=True, tools=["*_create"])
    write = agent.tools()["tools_write"]["annotations"]
    assert (write[READ_ONLY], write[DESTRUCTIVE]) == (False, False)


def test_without_anything_to_write_nothing_writes_and_without_any_tool_nothing_is_searched(serve):
    assert set(serve(read_only=True).tools()) == SURFACE - {"tools_write"} | PINNED
    assert set(serve(tools=[]).tools()) == PINNED


@pytest.mark.slow
def test_pages_of_the_list_hold_each_tool_once(agent, configured):
    configured(PINNED_TOOLS=["orders_*"], TOOLS_PAGE_SIZE=2)
    names = list(agent.tools())
    assert names[:3] == ["tools_search", "tools_read", "tools_write"]
    assert len(names) == len(set(names)) > 8


def test_the_instructions_say_how_to_go_on(agent, configured):
    configured(INSTRUCTIONS=None)
    text = agent.result("server/discover")["instructions"]
    assert text.startswith("Tools by what they are about:")
    assert all(name in text for name in SURFACE)
    assert len(text) <= 2048


def test_every_revision_has_them(subtests, agent):
    for revision in ["2026-07-28", "2025-03-26"]:
        with subtests.test(revision=revision):
            agent.revision = revision
            assert set(agent.tools()) >= SURFACE
            assert agent.run("orders_list", {"page_size": 1}).data["results"]


def test_their_texts_have_the_projects_own_language_whoever_asks_first(agent, monkeypatch):
    def translate(text: str) -> str:
        return f"<{text}>" if translation.get_language() == "de" else text

    monkeypatch.setattr(translation._trans, "gettext", translate)
    registry.reload()
    with translation.override("de"):
        tools = agent.tools()
    assert "<" not in str(tools)
