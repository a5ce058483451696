"""The tools of programs, which the feature adds to an endpoint."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drf_mcp.contrib.compose import COMPOSE, PROGRAMS
from drf_mcp.contrib.compose.tool import find_tool, is_alone, write_functions
from drf_mcp.exposure import Tool
from drf_mcp.features import CallState, RequestContext, ToolSource

logger = logging.getLogger("drf_mcp")


class ComposeSource(ToolSource):
    def get_tools(self, tools: Mapping[str, Tool]) -> Iterator[Tool]:
        if not PROGRAMS:
            return
        # The interpreter is loaded with the first program.
        from drf_mcp.contrib.compose.named import LoadedTools

        for named in PROGRAMS.values():
            if (tool := LoadedTools(tools).find_tool_of(named)) is not None:
                yield tool
            else:
                # A system check says it when Django starts.
                logger.error("mcp_program %s is no tool: %s", named.name, named.problem)

    def list_tools(
        self, tools: Sequence[Any], context: RequestContext, server: Any
    ) -> Sequence[Any]:
        tool = find_tool(server, context)
        if tool is None:
            return tools
        called = write_functions(server, context) if is_alone(server.view_attributes) else {}
        return [*(each for each in tools if each.name not in called), tool]

    def shortens_list(self, view: Any) -> bool:
        return is_alone(view.feature_attributes)

    def find_tool(self, name: str, call: CallState) -> Tool | None:
        return find_tool(call.server, call.context) if name == COMPOSE and call.context else None
