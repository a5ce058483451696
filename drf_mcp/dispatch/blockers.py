"""The rows that keep others from being deleted, as far as the caller may know of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.db.models import Model, QuerySet

from drf_mcp.access.authentication import Caller
from drf_mcp.dispatch.errors.exceptions import Blockers
from drf_mcp.dispatch.request import ToolRequest, make_unthrottled_view
from drf_mcp.guards.preview import Rows
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.text import get_plural_name, join_values

# More keys than this are not asked for at once: some databases take no longer lists.
MOST_KEYS = 500
# More rows than this are not counted.
MOST_ROWS = 10_000


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
        return join_values(self.describe(blockers))

    def describe(self, keys: Mapping[type[Model], Sequence[Any]]) -> tuple[Rows, ...]:
        """Return rows by model in words, each model with the tool that lists its rows.

        Args:
            keys: the primary keys of the rows, by model.
        """
        return tuple(self._describe_model(model, found) for model, found in keys.items())

    def may_list(self, model: type[Model]) -> bool:
        """Return whether a tool lists rows of a model to the caller."""
        return self._ask_list(model, lambda rows: 1) == 1

    def _describe_model(self, model: type[Model], keys: Sequence[Any]) -> Rows:
        def count(rows: QuerySet[Any]) -> int:
            rows = rows.order_by().values("pk").distinct()
            parts = (keys[start : start + MOST_KEYS] for start in range(0, len(keys), MOST_KEYS))
            return sum(rows.filter(pk__in=part).count() for part in parts)

        name = get_plural_name(model)
        shown = 0 if len(keys) > MOST_ROWS else self._ask_list(model, count)
        return Rows(name, shown, self._find_tool(model)) if shown else Rows(name)

    def _find_tool(self, model: type[Model]) -> str:
        tools = {} if self.finders is None else self.finders.by_model
        return str(tools.get(model._meta.concrete_model, ""))

    def _ask_list(self, model: type[Model], ask: Callable[[QuerySet[Any]], int]) -> int:
        tool, caller = self._find_tool(model), self.caller
        if not tool or caller is None:
            return 0
        endpoint, user = self.finders.endpoints[tool], caller.user

        def answer() -> int:
            rows = self._get_rows(caller, endpoint)
            return ask(rows) if isinstance(rows, QuerySet) else 0

        try:
            # Permissions and filters of the list may raise anything: then nothing is said of it.
            return attempt(endpoint.place, answer, "", [], 0)
        finally:
            # A view that authenticates in its own way leaves its user on the request.
            caller.request.user = user

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
