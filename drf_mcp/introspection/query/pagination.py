"""Paginators: the query parameters they read, the pages they give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.utils.translation import gettext as _
from rest_framework import pagination

from drf_mcp.introspection.closed_sets import ClosedSet
from drf_mcp.introspection.openapi import find_declared_parameters
from drf_mcp.introspection.source.members import is_drf_code
from drf_mcp.introspection.types import Parameter, Parameters, Schema


@dataclass(frozen=True)
class WholeNumbers(ClosedSet):
    # A number over the largest is cut, not ignored.
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
    # REST framework's own parameters lack bounds.
    size_reader = "get_page_size"

    def get_parameters(self, view: Any) -> Parameters:
        if not self.is_stock("get_schema_operation_parameters"):
            return find_declared_parameters(self.paginator, view)
        return self.get_own_parameters()

    def get_own_parameters(self) -> Parameters:
        size = self.get_size_parameters()
        if not self.paginator.page_size and not size:
            return ()
        return (self.get_page_parameter(), *size)

    def get_page_parameter(self) -> Parameter:
        raise NotImplementedError

    def get_size_parameters(self) -> Parameters:
        paginator, name = self.paginator, self.paginator.page_size_query_param
        if not name:
            return ()
        return (self.get_rows_parameter(name, paginator.max_page_size),)

    def get_rows_parameter(self, name: str, most: int | None) -> Parameter:
        bounds: Schema = {"type": "integer", "minimum": 1}
        if most is not None:
            bounds["maximum"] = most
        closed = self.get_numbers(self.size_reader, 1)
        return Parameter(name, bounds, closed=closed)

    def get_numbers(self, reader: str, minimum: int) -> WholeNumbers | None:
        return WholeNumbers(minimum) if self.is_stock(reader) else None

    def get_schema(self, rows: Schema) -> Schema:
        stock = self.is_stock("paginate_queryset", "get_paginated_response", self.size_reader)
        if not stock or not self.has_size():
            return {}
        linked = self.is_stock("get_next_link", "get_previous_link")
        link: Schema = {"type": ["string", "null"]} if linked else {}
        return {"type": "object", "properties": self.get_members(link, rows)}

    def has_size(self) -> bool:
        # Without a size of its own a paginator answers a plain list where the caller names none.
        return bool(self.paginator.page_size)

    def get_members(self, link: Schema, rows: Schema) -> Schema:
        paginator = self.paginator
        counts = not hasattr(paginator, "get_count") or self.is_stock("get_count")
        stock = getattr(paginator, "django_paginator_class", Paginator) is Paginator
        count = {"type": "integer"} if counts and stock else {}
        return {"count": count, "next": link, "previous": link, "results": rows}

    def is_stock(self, *names: str) -> bool:
        return is_drf_code(type(self.paginator), *names)


class NumberedPages(StockPages):
    def get_page_parameter(self) -> Parameter:
        return Parameter(self.paginator.page_query_param, {"type": "integer", "minimum": 1})


class OffsetPages(StockPages):
    size_reader = "get_limit"

    def get_own_parameters(self) -> Parameters:
        paginator = self.paginator
        limit = paginator.limit_query_param
        if not paginator.default_limit and not limit:
            return ()
        schema = {"type": "integer", "minimum": 0}
        closed = self.get_numbers("get_offset", 0)
        offset = Parameter(paginator.offset_query_param, schema, closed=closed)
        if not limit:
            return (offset,)
        return (
            self.get_rows_parameter(limit, paginator.max_limit),
            offset,
        )

    def has_size(self) -> bool:
        return bool(self.paginator.default_limit)


class CursorPages(StockPages):
    def get_page_parameter(self) -> Parameter:
        schema = {"type": "string", "description": _("From the page before.")}
        return Parameter(self.paginator.cursor_query_param, schema)

    def get_members(self, link: Schema, rows: Schema) -> Schema:
        return {"next": link, "previous": link, "results": rows}


FAMILIES: dict[type, type[Pages]] = {
    pagination.PageNumberPagination: NumberedPages,
    pagination.LimitOffsetPagination: OffsetPages,
    pagination.CursorPagination: CursorPages,
}


def get_pages(paginator: Any) -> Pages:
    family = next((base for base in type(paginator).__mro__ if base in FAMILIES), None)
    return FAMILIES[family](paginator) if family is not None else Pages(paginator)
