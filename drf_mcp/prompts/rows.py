"""The rows that a caller's lists show, for what names one of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.http import HttpResponse

from drf_mcp.access.authentication import Caller
from drf_mcp.dispatch.earlier_call import EarlierCall
from drf_mcp.dispatch.request import make_unthrottled_view
from drf_mcp.dispatch.uncounted import REFUSALS
from drf_mcp.dispatch.visibility import Visibility
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
        self.visibility = Visibility(caller)
        self.tools = tools

    @classmethod
    def of(cls, server: Any, context: Any) -> ListedRows:
        """Return the rows of the tools that a `Server` offers in a request."""
        return cls(context.caller, server.tools_capability.get_offered_tools(context))

    def find_list(self, model: Any) -> Tool | None:
        """Return the tool that lists a model, None if the caller has none."""
        for tool in self.tools.values():
            name = tool.finders.find_list(model)
            return self.tools.get(name) if name else None
        return None

    def ask(
        self, tool: Tool, kwargs: Mapping[str, Any], take: Callable[[Any], Found]
    ) -> Found | None:
        """Return what is taken of the filtered queryset of a list, None if it is not allowed.

        Args:
            kwargs: the path kwargs of the list; others are passed over.
            take: gets the queryset.
        """
        route, caller = tool.endpoint.route, self.visibility.caller
        kwargs = {name: kwargs[name] for name in route.kwargs if name in kwargs}
        path = route.build(kwargs)
        match = None if path is None else route.match(path, kwargs, caller.request)
        if path is None or match is None or not self.visibility.allows(tool):
            return None
        view = make_unthrottled_view(tool.endpoint, match)
        view.request = self.visibility.request(tool, view, path)
        found: list[Found] = []

        def answer(request: Any, *args: Any, **own: Any) -> HttpResponse:
            view.initial(view.request, *args, **own)
            found.append(take(view.filter_queryset(view.get_queryset())))
            return HttpResponse(status=204)

        def leave_out(exc: Exception) -> None:
            if not isinstance(exc, REFUSALS):
                logger.warning("The rows of %s could not be read", tool.name, exc_info=exc)

        # In the middleware of a call, which may choose a tenant's tables.
        call = EarlierCall(self.visibility, tool, match, path, "")
        contain(lambda: call.respond(view.request._request, answer), leave_out)
        caller.request.user = caller.authenticate().user
        return found[0] if found else None
