"""What a caller may still read of the answer to an earlier call."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from django.db.models import QuerySet
from django.http import HttpResponse
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import SAFE_METHODS

from drf_mcp.dispatch.earlier_rows import NewAnswer, Row
from drf_mcp.dispatch.encoding import encode_data
from drf_mcp.dispatch.request import ToolRequest, make_unthrottled_view, names_an_object
from drf_mcp.dispatch.uncounted import REFUSALS, UncountedCall
from drf_mcp.exceptions import Unavailable, contain
from drf_mcp.introspection.source.members import is_drf_code
from drf_mcp.tools.tool import Tool

logger = logging.getLogger("drf_mcp")

Items: TypeAlias = Sequence[Mapping[str, Any]]
"""Parts of an answer, each with its ``pointer``, its ``value`` and, inside a row, its ``row``."""


class EarlierCall(UncountedCall):
    """A call that was made before, asked about again on behalf of a caller."""

    # The rows of a queryset that the view would still list, by the text of their keys.
    key_names: tuple[str, ...] = ()
    listed: set[str] | None = None

    @classmethod
    def get_readable_items(
        cls,
        visibility: Any,
        tool: Tool,
        kwargs: Mapping[str, Any],
        query_string: str,
        items: Items,
    ) -> Items:
        call = cls.at(visibility, tool, kwargs, query_string)
        if call is None:
            return []

        def refuse(exc: Exception) -> Items:
            if isinstance(exc, REFUSALS) and not is_failure(getattr(exc, "status_code", 403)):
                return []
            # Nobody knows whether it may still be read, least of all that it is gone.
            logger.warning("%s could not be asked again", tool.name, exc_info=exc)
            raise Unavailable from exc

        return contain(partial(call.ask_for, items), refuse)

    def ask_for(self, items: Items) -> Items:
        # Asked is what stands before the view's handler, throttles aside, and then what the answer
        # shows: an object by `get_object()`, rows by the view's filtered queryset. Where another
        # handler than REST framework's answers, or no primary keys are shown, a read is run
        # again; an unsafe call never is.
        rows = [row for row in map(Row, items) if row.place is not None]
        if not self.is_handled_by_project():
            view = make_unthrottled_view(self.tool.endpoint, self.match)
            view.request = self.visibility.request(self.tool, view, self.path, self.query_string)
            respond = partial(self.ask_view, view, rows)
            if is_refusal(self.respond(view.request._request, respond).status_code):
                return []
            if not rows or names_an_object(view) or not self.is_safe:
                return items
            if self.listed is not None:
                return [item for item in items if self.is_listed(Row(item))]
        answer = self.run()
        if is_refusal(answer.status):
            return []
        return items if not rows else self.intersect(items, answer.content.data)

    @property
    def is_safe(self) -> bool:
        return self.tool.endpoint.method in SAFE_METHODS

    def is_listed(self, row: Row) -> bool:
        return row.place is None or row.get_key(self.key_names) in (self.listed or ())

    def intersect(self, items: Items, data: Any) -> Items:
        answer = NewAnswer(json.loads(encode_data(data)))
        kept: list[Mapping[str, Any]] = []
        for item in items:
            row = Row(item)
            if "length" in item:
                # Values of a list that are one item: some of them may be gone.
                values = answer.get_shown_values(row)
                if values:
                    kept.append({**item, "value": values, "length": len(values)})
            elif row.place is None or answer.shows(row):
                kept.append(item)
        return kept

    def ask_view(
        self, view: Any, rows: Sequence[Row], request: ToolRequest, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        view.initial(view.request, *args, **kwargs)
        if names_an_object(view):
            view.get_object()
        elif rows and self.is_safe and isinstance(view, GenericAPIView):
            # A queryset that cannot be filtered by keys leaves the rows to a second run.
            self.listed = contain(partial(self.get_listed_keys, view, rows), lambda exc: None)
        return HttpResponse(status=204)

    def get_listed_keys(self, view: Any, rows: Sequence[Row]) -> set[str] | None:
        # None where the view cannot say.
        queryset = view.filter_queryset(view.get_queryset())
        if not isinstance(queryset, QuerySet):
            return None
        sources = {"pk", queryset.model._meta.pk.name}
        fields = view.get_serializer().fields.items()
        self.key_names = tuple(name for name, field in fields if field.source in sources)
        keys = {row.get_key(self.key_names) for row in rows}
        if not self.key_names or None in keys:
            return None
        found = queryset.order_by().filter(pk__in=keys).values_list("pk", flat=True)
        return {str(key) for key in found}

    def is_handled_by_project(self) -> bool:
        # Whether the answer itself has to be asked for, and asking changes nothing: REST
        # framework's own handlers refuse nothing that `initial()` and `get_object()` do not.
        endpoint = self.tool.endpoint
        if not self.is_safe:
            return False
        handlers = {endpoint.action or endpoint.method.lower()}
        if issubclass(endpoint.view_class, GenericAPIView) and endpoint.action is None:
            handlers |= {"list", "retrieve"} & set(dir(endpoint.view_class))
        return not is_drf_code(endpoint.view_class, *handlers)


def is_failure(status: int) -> bool:
    return status >= 500


def is_refusal(status: int) -> bool:
    if is_failure(status):
        raise Unavailable
    return status >= 300
