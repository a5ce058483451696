from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drf_mcp.contrib.search import SEARCH_TOOLS
from drf_mcp.features import CallState, Feature, Flag, Setting, mcp_settings
from drf_mcp.option_types.kinds import PATTERNS

# A key of hosts in the `_meta` of a tool: Claude Code, Claude Agent SDK (2026-04).
ALWAYS_LOAD = "anthropic/alwaysLoad"


class SearchFeature(Feature):
    settings = {
        # True lists pinned tools and three more: tools_search finds the other tools, tools_read and
        # tools_write run them. Wise above 60 tools. See docs/large_apis.md. For clients that send
        # all tools to the model.
        "TOOL_SEARCH": Setting(False, Flag()),
        # Patterns of tools that stay in the list, besides those with the option `pinned=True`. See
        # docs/large_apis.md. For the tools of every day.
        "PINNED_TOOLS": Setting([], PATTERNS),
    }
    tool_options = {
        # True keeps the tool in the list if TOOL_SEARCH leaves others out. For a tool of every day.
        "pinned": Setting(None, Flag().or_none()),
    }
    view_attributes = {
        # As TOOL_SEARCH, for one endpoint. For one endpoint with many tools.
        "tool_search": Setting(None, Flag().or_none()),
        # As PINNED_TOOLS, for one endpoint. For one endpoint's tools of every day.
        "pinned": Setting(None, PATTERNS.or_none()),
    }

    def get_definition_members(self, tool: Any) -> Mapping[str, Any]:
        is_pinned = tool.options.pinned or tool.matches(mcp_settings.PINNED_TOOLS)
        return {"_meta": {ALWAYS_LOAD: True}} if is_pinned else {}

    def shortens_list(self, view: Any) -> bool:
        return is_on(view.feature_attributes)

    def get_listed_tools(self, tools: Any, context: Any, server: Any) -> Sequence[Any] | None:
        if (search := _open_search(context, server)) is None:
            return None
        # What another feature has added to the list is found by no search.
        added = [tool for tool in tools if tool.name not in search.every]
        return [*search.listed, *added]

    def get_hints(self, context: Any, server: Any) -> Sequence[str]:
        search = _open_search(context, server)
        return () if search is None else [search.hint]

    def find_tool(self, name: str, context: Any, server: Any) -> Any:
        is_own = name in SEARCH_TOOLS and (search := _open_search(context, server))
        return search.make(name) if is_own else None

    def redirect(self, call: CallState) -> None:
        if call.tool.name in SEARCH_TOOLS and (search := _open_search(call.context, call.server)):
            search.redirect(call)

    def prepare_endpoint(self, server: Any, tools: Mapping[str, Any]) -> None:
        from drf_mcp.contrib.search.tool_index import ToolIndex

        if is_on(server.view_attributes):
            ToolIndex.rank(server.registry, tools)


def is_on(view_attributes: Mapping[str, Any]) -> bool:
    """Return whether an endpoint lists few tools and searches the others."""
    from drf_mcp.features import mcp_settings

    own = view_attributes.get("tool_search")
    return bool(mcp_settings.TOOL_SEARCH if own is None else own)


def _open_search(context: Any, server: Any) -> Any:
    """Return what the caller sees in place of all tools, None where all are listed."""
    from drf_mcp.contrib.search.tool_search import ToolSearch

    return ToolSearch(server, context) if is_on(server.view_attributes) else None
