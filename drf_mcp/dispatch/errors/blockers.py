"""The rows that keep others from being deleted, as far as the caller may know of them."""

from __future__ import annotations

from typing import Any

from django.db.models import Model, QuerySet

from drf_mcp.access.authentication import Caller
from drf_mcp.dispatch.errors.violations import Blockers
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.text import listing, model_names
from drf_mcp.tools.endpoints import Endpoint
from drf_mcp.tools.related_tools import Finders

# More keys than this are not asked for: some databases take no longer lists.
MOST_KEYS = 500


class Listings:
    """The list tools, as one caller sees their rows.

    Args:
        finders: names the list tool of each model; None if there are none.
        caller: the caller whose deletion was refused; None if nobody is known.
    """

    def __init__(self, finders: Finders | None, caller: Caller | None) -> None:
        self.finders = finders
        self.caller = caller

    def named(self, blockers: Blockers) -> str:
        """Return the names of models in words, each with the tool that lists its rows."""
        finders, caller = self.finders, self.caller
        if finders is None or caller is None:
            return listing(map(model_names, blockers))
        user = caller.user
        try:
            return listing(
                named_with_tool(m, keys, finders, caller) for m, keys in blockers.items()
            )
        finally:
            # A view that authenticates in its own way leaves its user on the request.
            caller.request.user = user


def named_with_tool(
    model: type[Model], keys: tuple[Any, ...], finders: Finders, caller: Caller
) -> str:
    """Return the name of a model; where the caller may list it, how many rows are shown."""
    names = model_names(model)
    tool = finders.by_model.get(model._meta.concrete_model)
    if tool is None or len(keys) > MOST_KEYS:
        return names
    endpoint = finders.endpoints[tool]
    shown = attempt(endpoint.place, lambda: count_shown(endpoint, caller, keys), "", [], 0)
    return f"{names} ({shown} of them in {tool})" if shown else names


def count_shown(endpoint: Endpoint, caller: Caller, keys: tuple[Any, ...]) -> int:
    """Return how many of some rows a list shows to the caller.

    Raises:
        Exception: whatever the list's permissions or filters raise.
    """
    rows = listed_rows(endpoint, caller)
    if not isinstance(rows, QuerySet):
        return 0
    return rows.filter(pk__in=keys).order_by().values("pk").distinct().count()


def listed_rows(endpoint: Endpoint, caller: Caller) -> Any:
    """Return the filtered queryset of a list view, its permissions asked, nothing throttled."""
    route = endpoint.route
    path = route.build({})
    match = None if path is None else route.match(path, {}, caller.request)
    if path is None or match is None:
        return None
    request = ToolRequest(caller, endpoint.method, path)
    request.resolver_match = match
    view: Any = endpoint.view()
    view.args, view.kwargs = match.args, match.kwargs
    view.headers = view.default_response_headers
    view.check_throttles = lambda request: None
    view.request = view.initialize_request(request)
    view.initial(view.request, *match.args, **match.kwargs)
    return view.filter_queryset(view.get_queryset())
