from __future__ import annotations

from collections.abc import Sequence

from drf_mcp.features import CallState, Feature, Flag, Guard, Setting
from drf_mcp.option_types.kinds import PATTERNS


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
        "pinned": Setting(None, Flag().or_none())
    }
    view_attributes = {
        # As TOOL_SEARCH, for one endpoint. For one endpoint with many tools.
        "tool_search": Setting(None, Flag().or_none()),
        # As PINNED_TOOLS, for one endpoint. For one endpoint's tools of every day.
        "pinned": Setting(None, PATTERNS.or_none()),
    }
    tool_source = "drf_mcp.contrib.search.tool_search.SearchSource"

    def get_guards(self, call: CallState) -> Sequence[Guard]:
        # A program reads the outcome as the tool itself gives it.
        if not call.slots or call.context is None or call.context.is_inner:
            return ()
        from drf_mcp.contrib.search.tool_search import IS_NAMED, RunGuard

        return [RunGuard()] if IS_NAMED.get(call) else ()
