"""Asks the view of a list which rows it shows a caller."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.http.response import HttpResponseBase

from drf_mcp.access.authentication import Caller
from drf_mcp.arguments.call import Call
from drf_mcp.dispatch.probe import REFUSALS, Probe, is_taken_away
from drf_mcp.dispatch.response import ViewResponse
from drf_mcp.dispatch.shown_rows import find_shown_rows, make_filterable, shows_column
from drf_mcp.dispatch.stock_lists import find_queryset_fault, find_view_fault, is_stock_list
from drf_mcp.exceptions import contain
from drf_mcp.settings import mcp_settings

logger = logging.getLogger("drf_mcp")

Found = TypeVar("Found")
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
        found = self.ask_listed_rows(take, column)
        if found is not None:
            return found
        shown = self.read_rows(column)
        if not shown or len({type(row) for row in shown}) > 1:
            return None
        rows = type(shown[0])._base_manager.filter(pk__in=[row.pk for row in shown])
        return self.ask_middleware(lambda: take(rows))

    def ask_listed_rows(self, take: Callable[[QuerySet[Any]], Found], column: str) -> Found | None:
        # None where the list may show other rows than its filtered queryset.
        if not is_stock_list(self.endpoint) or self.is_altered():
            return None

        def look(view: Any, *args: Any, **kwargs: Any) -> Found | None:
            rows = view.filter_queryset(view.get_queryset())
            if find_queryset_fault(rows) or find_view_fault(view, self.handler):
                return None
            row = view.get_serializer([], many=True).child
            if not shows_column(row, rows.model, column):
                return None
            return take(make_filterable(rows))

        return self.ask(look)

    def is_altered(self) -> bool:
        """Return whether CALL_MIDDLEWARE changes the answer of a safe method, here its first page.

        Raises:
            APIException, PermissionDenied, Http404: if the view refuses the caller.
        """
        if not mcp_settings.CALL_MIDDLEWARE:
            return False
        with self.undoing():
            response = self.run_list()
        return bool(self.request.middleware_call.is_altered(response))

    def run_list(self) -> HttpResponseBase:
        response = self.run()
        if response.status_code >= 300:
            raise self.get_refusal(response)
        return response

    def read_rows(self, column: str) -> list[Model]:
        """Return the rows whose column the first pages show."""
        rows: list[Model] = []
        for _ in range(MOST_PAGES):
            with self.undoing():
                data = ViewResponse.read(self.run_list(), self.request).content.data
            rows += find_shown_rows(data, column)
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
        APIException: with the status 429, if a throttle refuses the question.
    """

    def log_failure(exc: Exception) -> None:
        if is_counted and getattr(exc, "status_code", 0) == 429:
            raise exc
        if not isinstance(exc, REFUSALS):
            logger.warning("The rows of %s could not be read", tool.name, exc_info=exc)

    if is_taken_away(caller, tool):
        return None
    probe = ListProbe(caller, tool, Call({}, kwargs))
    probe.is_counted = is_counted
    return contain(lambda: probe.take_rows(take, column), log_failure)
