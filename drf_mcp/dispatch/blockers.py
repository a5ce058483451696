"""Rows that a call is about besides its object, as far as the caller may see them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _

from drf_mcp.access.authentication import Caller
from drf_mcp.dispatch.errors.exceptions import Blockers
from drf_mcp.dispatch.probe import REFUSALS, Probe
from drf_mcp.exceptions import contain
from drf_mcp.introspection.text import get_plural_name, join_values

logger = logging.getLogger("drf_mcp")

Found = TypeVar("Found")
# Of the rows of one model that a caller sees.
MOST_ROWS = 10_000


@dataclass(frozen=True)
class Rows:
    """Rows of one model.

    Attributes:
        model: the model's name, in the plural.
        count: how many of them the caller finds in the tool; 0 where it may not be said.
        tool: the tool that lists them, "" for none.
    """

    model: str
    count: int = 0
    tool: str = ""

    def __str__(self) -> str:
        if not self.count:
            return self.model
        # Translators: the model is the plural of its name, such as "line items".
        return _("%(model)s (%(count)d of them in %(tool)s)") % vars(self)

    @property
    def data(self) -> Mapping[str, Any]:
        counted = {"count": self.count, "tool": self.tool} if self.count else {}
        return {"model": self.model, **counted}


class Listings:
    """The list tools, as one caller sees their rows.

    Args:
        tool: the tool that is called, which knows the others.
        caller: the caller; None if unknown.
        kwargs: the path kwargs of the call, for the lists below the same objects.
    """

    def __init__(
        self, tool: Any, caller: Caller | None, kwargs: Mapping[str, Any] | None = None
    ) -> None:
        self.tool = tool
        self.caller = caller
        self.kwargs = kwargs or {}

    def name_blockers(self, blockers: Blockers) -> str:
        return join_values(self.describe(blockers))

    def describe(self, keys: Mapping[type[Model], Collection[Any]]) -> tuple[Rows, ...]:
        """Return rows by model in words, each model with the tool that lists its rows.

        Args:
            keys: the primary keys of the rows, by model.
        """
        return tuple(self._describe_model(model, found) for model, found in keys.items())

    def find_visible(self, model: type[Model], keys: Collection[Any]) -> set[Any]:
        """Return the keys of the rows that a list shows the caller, as far as one can say."""
        if len(keys) > MOST_ROWS:
            return set()
        return self._ask_list(model, lambda probe: probe.find_visible_keys(model, keys)) or set()

    def shows_all(self, model: type[Model]) -> bool:
        """Return whether a list is known to show the caller every row of a model."""

        def compare(rows: QuerySet[Any]) -> bool:
            every: QuerySet[Any] = QuerySet(model, using=rows.db)
            return not every.exclude(pk__in=rows.order_by().values("pk")).exists()

        return bool(self._ask_list(model, lambda probe: probe.ask_listed_rows(compare)))

    def _describe_model(self, model: type[Model], keys: Collection[Any]) -> Rows:
        name, shown = get_plural_name(model), self.find_visible(model, keys)
        return Rows(name, len(shown), self._find_tool(model).name) if shown else Rows(name)

    def _find_tool(self, model: type[Model]) -> Any:
        related = self.tool.related
        name = None if related is None else related.find_list(model)
        if name is None or not related.endpoints[name].route.kwargs.keys() <= self.kwargs.keys():
            return None
        return replace(self.tool.for_endpoint(related.endpoints[name]), name=name)

    def _ask_list(self, model: type[Model], ask: Callable[[Probe], Found | None]) -> Found | None:
        tool, caller = self._find_tool(model), self.caller
        # What takes the list away from the caller takes its rows as well.
        if tool is None or caller is None or caller.find_narrowing(tool) is not None:
            return None
        kwargs = {name: self.kwargs[name] for name in tool.endpoint.route.kwargs}

        def leave_out(exc: Exception) -> None:
            if not isinstance(exc, REFUSALS):
                logger.warning("The rows of %s could not be read", tool.name, exc_info=exc)

        return contain(lambda: ask(Probe(caller, tool, kwargs)), leave_out)
