"""Agents at the endpoint of the shop with tool search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from django.conf import settings as project
from django.test import override_settings

from drf_mcp.exposure import registry
from tests.agents import Agent, Result

SEARCH_TOOLS = {"tools_search", "tools_read", "tools_write"}


def get_name(hit: Mapping[str, Any]) -> str:
    """Return the name of a hit, which has a definition or a signature."""
    return str(hit.get("name") or hit["signature"].partition("(")[0])


class SearchAgent(Agent):
    """An agent that finds tools with ``tools_search`` and runs them."""

    def search(self, query: str = "", **arguments: Any) -> dict[str, Any]:
        """Return the data of ``tools_search``."""
        arguments |= {"query": query} if query else {}
        return self.call("tools_search", **arguments).data

    def find_all(self, query: str) -> list[str]:
        """Return the names of all tools that a search finds, page by page."""
        names, offset = [], 0
        while offset is not None:
            page = self.search(query, offset=offset)
            names += [get_name(hit) for hit in page["tools"]]
            offset = page["next_offset"]
        return names

    def run(self, name: str, arguments: Mapping[str, Any] | None = None) -> Result:
        """Run a tool by ``tools_read`` or ``tools_write``."""
        runner = "tools_read" if registry.tool(name).reads else "tools_write"
        return self.call(runner, name=name, arguments=dict(arguments or {}))


@pytest.fixture(scope="module", autouse=True)
def searching() -> Iterator[None]:
    """Switch tool search on for a module, so that its tools are described once."""
    with override_settings(DRF_MCP={**project.DRF_MCP, "TOOL_SEARCH": True}):
        yield


@pytest.fixture
def configured(settings) -> Callable[..., None]:
    """Change settings of DRF_MCP."""

    def configure(**values: Any) -> None:
        settings.DRF_MCP = {**settings.DRF_MCP, **values}

    return configure


@pytest.fixture
def agent(agent_of) -> SearchAgent:
    """An agent of alice, who has customers."""
    return SearchAgent(agent_of("alice").http)
