from __future__ import annotations

from collections.abc import Sequence

from drf_mcp.features import CallState, Feature, Flag, Guard, Setting
from drf_mcp.option_types.kinds import PATTERNS


class SearchFeature(Feature):
    settings = {
        # True lists pinned tools and three more: tools_search finds the other tools, tools_read and
        # tools_write run them. See docs/large_apis.md. For more than 60 tools, and clients that
        # send all tools to the model.
        "TOOL_SEARCH": Setting(False, Flag()),
        # Patterns of tools that stay in the list, besides those with the option `pinned`.
        "PINNED_TOOLS": Setting([], PATTERNS),
    }
    tool_options = {
        # True keeps the tool in the list if TOOL_SEARCH leaves others out.
        "pinned": Setting(None, Flag().or_none())
    }
    view_attributes = {
        # As TOOL_SEARCH, for one endpoint.
        "tool_search": Setting(None, Flag().or_none()),
        # As PINNED_TOOLS, for one endpoint.
        "pinned": Setting(None, PATTERNS.or_none()),
    }
    tool_source = "drf_mcp.contrib.search.tool_search.SearchSource"

    def get_guards(self, call: CallState) -> Sequence[Guard]:
        # A program reads the outcome as the tool itself gives it.
        if not call.slots or call.context is None or call.context.is_inner:
            return ()
        from drf_mcp.contrib.search.tool_search import IS_NAMED, RunGuard

        return [RunGuard()] if IS_NAMED.get(call) else ()
