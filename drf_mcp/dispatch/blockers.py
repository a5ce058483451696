"""The rows that keep others from being deleted, as far as the caller may know of them."""

from __future__ import annotations

from typing import Any

from django.db.models import Model, QuerySet

from drf_mcp.access.authentication import Caller
from drf_mcp.dispatch.errors.exceptions import Blockers
from drf_mcp.dispatch.request import ToolRequest, make_unthrottled_view
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.text import get_plural_name, join_values

# More keys than this are not asked for: some databases take no longer lists.
MOST_KEYS = 500


class Listings:
    """The list tools, as one caller sees their rows.

    Args:
        finders: the `drf_mcp.tools.related_tools.Finders` of the tools; None if there are none.
        caller: the caller whose deletion was refused; None if nobody is known.
    """

    def __init__(self, finders: Any, caller: Caller | None) -> None:
        self.finders = finders
        self.caller = caller

    def name_blockers(self, blockers: Blockers) -> str:
        # Each model in words, with the tool that lists its rows.
        caller = self.caller
        if self.finders is None or caller is None:
            return blockers.names
        user = caller.user
        try:
            return join_values(self._name_model(caller, *entry) for entry in blockers.items())
        finally:
            # A view that authenticates in its own way leaves its user on the request.
            caller.request.user = user

    def _name_model(self, caller: Caller, model: type[Model], keys: tuple[Any, ...]) -> str:
        names = get_plural_name(model)
        tool = self.finders.by_model.get(model._meta.concrete_model)
        if tool is None or len(keys) > MOST_KEYS:
            return names
        endpoint = self.finders.endpoints[tool]

        def count() -> int:
            rows = self._get_rows(caller, endpoint)
            if not isinstance(rows, QuerySet):
                return 0
            return rows.filter(pk__in=keys).order_by().values("pk").distinct().count()

        # Permissions and filters of the list may raise anything: then nothing is said of it.
        shown = attempt(endpoint.place, count, "", [], 0)
        return f"{names} ({shown} of them in {tool})" if shown else names

    def _get_rows(self, caller: Caller, endpoint: Any) -> Any:
        route = endpoint.route
        path = route.build({})
        match = None if path is None else route.match(path, {}, caller.request)
        if path is None or match is None:
            return None
        request = ToolRequest(caller, endpoint.method, path)
        request.resolver_match = match
        # The caller has not asked for the list, so nothing counts as a call of it.
        view = make_unthrottled_view(endpoint, match)
        view.request = view.initialize_request(request)
        view.initial(view.request, *match.args, **match.kwargs)
        return view.filter_queryset(view.get_queryset())
