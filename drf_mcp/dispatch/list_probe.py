"""Asks the view of a list which rows it shows a caller."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import unquote

from django.db.models import Model, QuerySet
from django.http.response import HttpResponseBase
from rest_framework.fields import Field
from rest_framework.relations import HyperlinkedIdentityField
from rest_framework.utils.serializer_helpers import ReturnList

from drf_mcp.access.authentication import Caller
from drf_mcp.access.throttles import refuse_throttled
from drf_mcp.arguments.call import Call
from drf_mcp.dispatch.probe import REFUSALS, Probe, is_taken_away
from drf_mcp.dispatch.response import ViewResponse
from drf_mcp.dispatch.stock_lists import find_list_fault, is_stock, is_stock_list, is_stock_row
from drf_mcp.exceptions import catch
from drf_mcp.settings import mcp_settings

logger = logging.getLogger("drf_mcp")

Found = TypeVar("Found")
# How many mappings inside one another are searched for the rows of an answer.
DEEPEST = 3
# The most pages of a list that are read for one question.
MOST_PAGES = 10


class ListProbe(Probe):
    """Asks the view of a list about the rows that it shows the caller.

    Of a stock list these are the rows of its filtered queryset. Any other list is run as the
    caller, page by page, and a row counts that its answer shows.
    """

    def take_rows(self, take: Callable[[QuerySet[Any]], Found], column: str) -> Found | None:
        """Return what is taken of the rows that the list shows the caller, None where it cannot be.

        Of a list that is not stock, these are rows of its first pages.

        Args:
            column: the column that chooses a row. Only rows count whose column the list shows.
        """
        found = self._ask_listed_rows(take, column)
        if found is not None:
            return found
        shown = self._read_rows(column)
        if not shown or len({type(row) for row in shown}) > 1:
            return None
        rows = type(shown[0])._base_manager.filter(pk__in=[row.pk for row in shown])
        return self.ask_middleware(lambda: take(rows))

    def _ask_listed_rows(self, take: Callable[[QuerySet[Any]], Found], column: str) -> Found | None:
        # None where the list may show other rows than its filtered queryset.
        if not is_stock_list(self.endpoint) or self.is_altered():
            return None

        def look(view: Any, *args: Any, **kwargs: Any) -> Found | None:
            rows = view.filter_queryset(view.get_queryset())
            if find_list_fault(view, rows, self.handler):
                return None
            row = view.get_serializer([], many=True).child
            self._drop_omitted(row)
            if not _shows_column(row, rows.model, column):
                return None
            return take(_make_filterable(rows))

        return self.ask(look)

    def _drop_omitted(self, serializer: Any) -> None:
        for name in list(getattr(serializer, "fields", ())):
            if self.omission.covers((name,)):
                del serializer.fields[name]

    def is_altered(self) -> bool:
        """Return whether CALL_MIDDLEWARE changes the answer of a safe method, here its first page.

        Raises:
            APIException, PermissionDenied, Http404: if the view refuses the caller.
        """
        if not mcp_settings.CALL_MIDDLEWARE:
            return False
        with self.undoing():
            response = self._run_list()
        return bool(self.request.middleware_call.is_altered(response))

    def _run_list(self) -> HttpResponseBase:
        response = self.run()
        if response.status_code >= 300:
            raise self.describe_refusal(response)
        return response

    def _read_rows(self, column: str) -> list[Model]:
        """Return the rows whose column the first pages show."""
        rows: list[Model] = []
        for _ in range(MOST_PAGES):
            with self.undoing():
                data = ViewResponse.read(self._run_list(), self.request).content.data
            for shown in _find_return_lists(data):
                self._drop_omitted(shown.serializer.child)
            rows += _find_shown_rows(data, column)
            following = data.get("next") if isinstance(data, Mapping) else None
            if not following or not isinstance(following, str):
                break
            self.call = replace(self.call, query_string=following.partition("?")[2])
        return rows


def ask_about_rows(
    caller: Caller,
    tool: Any,
    kwargs: Mapping[str, Any],
    take: Callable[[QuerySet[Any]], Found],
    column: str,
    *,
    is_counted: bool,
) -> Found | None:
    """Call `ListProbe.take_rows`; return None where the list is taken away, refuses or fails.

    Args:
        is_counted: whether the list's throttles count the question.

    Raises:
        Refused: if a throttle refuses the question.
    """
    if is_taken_away(caller, tool):
        return None
    probe = ListProbe(caller, tool, Call({}, kwargs))
    probe.is_counted = is_counted
    with catch() as caught:
        return probe.take_rows(take, column)
    exc = caught.exception
    if is_counted and getattr(exc, "status_code", 0) == 429:
        raise refuse_throttled(exc) from exc
    if not isinstance(exc, REFUSALS):
        logger.warning("The rows of %s could not be read", tool.name, exc_info=exc)
    return None


def _make_filterable(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return a queryset of the same rows that can be filtered and ordered."""
    if rows.query.is_sliced or rows.query.distinct_fields:
        every: QuerySet[Any] = QuerySet(rows.model, using=rows.db)
        return every.filter(pk__in=rows.values("pk"))
    return rows


def _find_shown_rows(data: Any, column: str) -> list[Model]:
    """Return the objects of a list's answer whose items show the value of their column.

    No rows where code other than REST framework's serializers may have written items.
    """
    found = list(_find_return_lists(data))
    pairs = [
        (row, item, shown.serializer.child)
        for shown in (found if all(map(_is_complete, found)) else ())
        for row, item in zip(shown.serializer.instance, shown, strict=True)
    ]
    if not all(isinstance(row, Model) for row, _, _ in pairs):
        return []
    return [row for row, item, serializer in pairs if _shows(item, serializer, row, column)]


def _find_showing(serializer: Any, model: type[Model], column: str) -> dict[str, Any]:
    """Return the fields of a serializer that show a column of a model, by name.

    A link to an object shows the column that it is looked up by.
    """
    key = model._meta.pk
    sources = {column, *(("pk", key.name, key.attname) if column in ("pk", key.name) else ())}
    return {
        name: field
        for name, field in getattr(serializer, "fields", {}).items()
        if not field.write_only
        and (
            field.lookup_field in sources
            if isinstance(field, HyperlinkedIdentityField)
            else field.source in sources
        )
    }


def _shows(item: Any, serializer: Any, row: Model, column: str) -> bool:
    """Return whether what a serializer wrote for a row has the row's value of a column."""
    value = getattr(row, column, None)
    if value is None or not isinstance(item, Mapping):
        return False
    for name, field in _find_showing(serializer, type(row), column).items():
        shown = str(item.get(name))
        if isinstance(field, HyperlinkedIdentityField):
            shown = unquote(shown.partition("?")[0].rstrip("/").rpartition("/")[2])
        if shown == str(value):
            return True
    return False


def _shows_column(serializer: Any, model: type[Model], column: str) -> bool:
    """Return whether a serializer shows a column in every row, by REST framework's own code."""
    members = ("to_representation", "get_attribute")
    return is_stock_row(serializer) and any(
        is_stock(field, Field, *members, *(["get_url"] if hasattr(field, "get_url") else ()))
        for field in _find_showing(serializer, model, column).values()
    )


def _find_return_lists(data: Any, depth: int = 0) -> Iterator[Any]:
    if isinstance(data, ReturnList):
        yield data
    elif isinstance(data, Mapping) and depth < DEEPEST:
        for value in data.values():
            yield from _find_return_lists(value, depth + 1)


def _is_complete(shown: Any) -> bool:
    # A serializer may write fewer rows than it was given.
    instance = getattr(shown.serializer, "instance", None)
    return isinstance(instance, Iterable) and len(list(instance)) == len(shown)
