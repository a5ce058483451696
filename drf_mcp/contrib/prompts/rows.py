"""The rows that a caller's lists show, for what names one of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from drf_mcp.access.authentication import Caller
from drf_mcp.dispatch.probe import REFUSALS, Probe
from drf_mcp.exceptions import contain
from drf_mcp.tools.tool import Tool

logger = logging.getLogger("drf_mcp")

Found = TypeVar("Found")


class ListedRows:
    """The rows of list tools, as their views show them to a caller.

    Args:
        caller: the caller, who is authenticated.
        tools: the tools that are offered to the caller, by name.
    """

    def __init__(self, caller: Caller, tools: Mapping[str, Tool]) -> None:
        self.caller = caller
        self.tools = tools

    @classmethod
    def of(cls, server: Any, context: Any) -> ListedRows:
        """Return the rows of the tools that a `Server` offers in a request."""
        return cls(context.caller, server.tools_capability.get_offered_tools(context))

    def find_list(self, model: Any) -> Tool | None:
        """Return the tool that lists a model, None if the caller has none."""
        for tool in self.tools.values():
            name = tool.related.find_list(model)
            return self.tools.get(name) if name else None
        return None

    def ask(
        self, tool: Tool, kwargs: Mapping[str, Any], take: Callable[[Any], Found]
    ) -> Found | None:
        """Return what is taken of the rows that a list shows, None where it shows none.

        Args:
            kwargs: the path kwargs of the list; others are passed over.
            take: gets a queryset of the rows.
        """
        known = {name: kwargs[name] for name in tool.endpoint.route.kwargs if name in kwargs}
        probe = Probe(self.caller, tool, known)

        def leave_out(exc: Exception) -> None:
            if not isinstance(exc, REFUSALS):
                logger.warning("The rows of %s could not be read", tool.name, exc_info=exc)

        return contain(lambda: probe.take_rows(take), leave_out)
