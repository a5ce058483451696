"""Paginators: their query parameters, and the schema of a page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.core.paginator import Paginator
from rest_framework import pagination

from drf_mcp.introspection.closed_sets import ClosedSet
from drf_mcp.introspection.inspection import find_declared_parameters
from drf_mcp.introspection.source.members import is_drf_code
from drf_mcp.introspection.types import Parameter, Parameters, Schema


@dataclass(frozen=True)
class WholeNumbers(ClosedSet):
    # A paginator ignores a number below the minimum, and cuts one above its maximum.
    minimum: int

    def get_schema(self) -> Schema:
        return {"type": "integer", "minimum": self.minimum}

    def takes(self, text: str) -> bool:
        try:
            return int(text) >= self.minimum
        except ValueError:
            return False


class Pages:
    def __init__(self, paginator: Any) -> None:
        self.paginator = paginator

    def get_parameters(self, view: Any) -> Parameters:
        return find_declared_parameters(self.paginator, view)

    def get_schema(self, rows: Schema) -> Schema:
        return {}


class StockPages(Pages):
    # The parameters that REST framework declares have no bounds. The attributes of this class are
    # the names of attributes and methods of the paginator.

    page_param = "page_query_param"
    least_page = 1
    size = "page_size"
    size_param = "page_size_query_param"
    most_rows = "max_page_size"
    size_reader = "get_page_size"
    rows_first = False

    def get_parameters(self, view: Any) -> Parameters:
        if not self.is_stock("get_schema_operation_parameters"):
            return super().get_parameters(view)
        size_name = self.get(self.size_param)
        if not self.get(self.size) and not size_name:
            return ()
        page = self.make_page_parameter()
        if not size_name:
            return (page,)
        most = self.get(self.most_rows)
        bounds = {"type": "integer", "minimum": 1} | ({} if most is None else {"maximum": most})
        rows = Parameter(size_name, bounds, closed=self._describe_numbers(self.size_reader, 1))
        return (rows, page) if self.rows_first else (page, rows)

    def make_page_parameter(self) -> Parameter:
        schema = {"type": "integer", "minimum": self.least_page}
        return Parameter(self.get(self.page_param), schema)

    def get_schema(self, rows: Schema) -> Schema:
        stock = self.is_stock("paginate_queryset", "get_paginated_response", self.size_reader)
        # Without a default size, a call that names no size is answered with a plain list.
        if not stock or not self.get(self.size):
            return {}
        linked = self.is_stock("get_next_link", "get_previous_link")
        link: Schema = {"type": ["string", "null"]} if linked else {}
        members = {**self.describe_count(), "next": link, "previous": link, "results": rows}
        return {"type": "object", "properties": members}

    def describe_count(self) -> dict[str, Schema]:
        paginator = self.paginator
        counts = not hasattr(paginator, "describe_count") or self.is_stock("describe_count")
        stock = getattr(paginator, "django_paginator_class", Paginator) is Paginator
        return {"count": {"type": "integer"} if counts and stock else {}}

    def _describe_numbers(self, reader: str, minimum: int) -> WholeNumbers | None:
        return WholeNumbers(minimum) if self.is_stock(reader) else None

    def get(self, name: str) -> Any:
        return getattr(self.paginator, name)

    def is_stock(self, *names: str) -> bool:
        return is_drf_code(type(self.paginator), *names)


class OffsetPages(StockPages):
    page_param = "offset_query_param"
    least_page = 0
    size = "default_limit"
    size_param = "limit_query_param"
    most_rows = "max_limit"
    size_reader = "get_limit"
    rows_first = True

    def make_page_parameter(self) -> Parameter:
        return replace(
            super().make_page_parameter(), closed=self._describe_numbers("get_offset", 0)
        )


class CursorPages(StockPages):
    page_param = "cursor_query_param"

    def make_page_parameter(self) -> Parameter:
        schema = {"type": "string", "description": "From the page before."}
        return Parameter(self.get(self.page_param), schema)

    def describe_count(self) -> dict[str, Schema]:
        return {}


FAMILIES: dict[type, type[Pages]] = {
    pagination.PageNumberPagination: StockPages,
    pagination.LimitOffsetPagination: OffsetPages,
    pagination.CursorPagination: CursorPages,
}


def find_pages(paginator: Any) -> Pages:
    family = next((base for base in type(paginator).__mro__ if base in FAMILIES), None)
    return FAMILIES[family](paginator) if family is not None else Pages(paginator)
