"""A caller with several narrowings has a part of the tools, and can call exactly those listed."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import path
from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.access.narrowing import Narrowing
from drf_mcp.exposure import registry
from drf_mcp.views import MCPView
from tests.agents import Agent
from tests.dispatch.narrowing import views
from tests.dispatch.narrowing.conftest import EVERY
from tests.dispatch.narrowing.test_narrowing import callable_tools

PATTERNS = st.lists(
    st.sampled_from(
        ["*", "tag:billing", "tag:s*", "GET *", "POST /invoices/*", "*_list", "count", "secret"]
    ),
    max_size=3,
)
SETS = ["billing", "stock", "mine", "none"]
ADDED = st.fixed_dictionaries(
    {},
    optional={
        "tools": PATTERNS,
        "read_only": st.just(True),
        "toolset": st.sampled_from(SETS),
        "header": st.lists(st.sampled_from(SETS), min_size=1, max_size=3),
        "READ_ONLY": st.sampled_from([True, lambda request: True]),
    },
)


def agent_with(serve, badge: str, added: dict) -> Agent:
    own = {name: added[name] for name in ("tools", "read_only") if name in added}
    view = MCPView.as_view(toolsets={"mine": ["*_list", "search"], "none": []}, **own)
    everywhere = {"READ_ONLY": added["READ_ONLY"]} if "READ_ONLY" in added else {}
    serve(path("own/mcp", view), path("own/<toolset>/mcp", view), **everywhere)
    headers = {"authorization": f"Badge {badge}"}
    if "header" in added:
        headers["mcp-toolsets"] = ",".join(added["header"])
    at = f"/own/{added['toolset']}/mcp" if "toolset" in added else "/own/mcp"
    return Agent(Client(headers=headers), path=at)


@pytest.mark.slow
@given(added=ADDED, badge=st.sampled_from(sorted(views.Badge.narrowings)), data=st.data())
def test_a_further_narrowing_leaves_fewer_tools_and_the_list_has_those_that_can_be_called(
    serve, added, badge, data
):
    agent = agent_with(serve, badge, added)
    listed = set(agent.tools())
    assert callable_tools(agent) == listed
    assert listed <= EVERY | {"secret"}
    hidden = agent.result("tools/list")["_meta"].get("io.github.drf-mcp/narrowing", {"hidden": 0})[
        "hidden"
    ]
    seen = EVERY | {"secret"} if badge == "all" else EVERY
    assert hidden == len(seen - listed)
    if added:
        without = dict(added)
        del without[data.draw(st.sampled_from(sorted(added)))]
        assert listed <= set(agent_with(serve, badge, without).tools())


@given(first=PATTERNS, second=PATTERNS)
def test_two_narrowings_leave_the_tools_that_both_leave(serve, first, second):
    serve()
    tools = registry.tools()
    one, other = (Narrowing("a", tuple(patterns)) for patterns in (first, second))
    both = registry.narrow(tools, (one, other)).keys()
    assert both == registry.narrow(tools, (one,)).keys() & registry.narrow(tools, (other,)).keys()


class Emptied(dict):
    """What another thread empties as soon as something is found in it."""

    def __contains__(self, key):
        found = super().__contains__(key)
        self.clear()
        return found


def test_narrowed_tools_are_given_while_another_thread_makes_room_for_others(serve, monkeypatch):
    serve()
    tools, narrowings = registry.tools(), (Narrowing("this test", ("*_list",)),)
    monkeypatch.setattr(registry, "_kept", Emptied())
    narrowed = [registry.narrow(tools, narrowings) for _ in range(2)]
    assert narrowed[0]
    assert [*narrowed[0]] == [*narrowed[1]]
