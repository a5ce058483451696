"""Paginators: the query parameters they read, the pages they give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.paginator import Paginator
from rest_framework import pagination

from drf_mcp.introspection.openapi import declared_parameters
from drf_mcp.introspection.query.closed_sets import WholeNumbers
from drf_mcp.introspection.source.overrides import is_drf_code
from drf_mcp.introspection.text import explain
from drf_mcp.introspection.types import Parameter, Parameters, Schema


def page_parameters(paginator: Any, view: Any) -> Parameters:
    """Return the query parameters of a paginator, none if it never makes pages.

    A paginator that declares its own parameters is believed; REST framework's own
    families are described more closely than they do themselves.
    """
    family = next((base for base in type(paginator).__mro__ if base in FAMILIES), None)
    if family is None or not is_drf_code(type(paginator), "get_schema_operation_parameters"):
        return declared_parameters(paginator, view)
    return FAMILIES[family](paginator)


def by_number(paginator: Any) -> Parameters:
    """Describe pages by number."""
    size = size_parameters(paginator)
    if not paginator.page_size and not size:
        return ()
    number = {"type": "integer", "minimum": 1, "description": "Page number, from 1."}
    return (Parameter(paginator.page_query_param, number), *size)


def by_offset(paginator: Any) -> Parameters:
    """Describe pages by limit and offset."""
    if not paginator.default_limit and not paginator.limit_query_param:
        return ()
    offset = {"type": "integer", "minimum": 0, "description": "Rows to skip."}
    start = Parameter(
        paginator.offset_query_param, offset, closed=numbers(paginator, "get_offset", 0)
    )
    if not paginator.limit_query_param:
        return (start,)
    limit = rows(paginator.default_limit, paginator.max_limit)
    closed = numbers(paginator, "get_limit", 1)
    return (Parameter(paginator.limit_query_param, limit, closed=closed), start)


def by_cursor(paginator: Any) -> Parameters:
    """Describe pages by cursor."""
    size = size_parameters(paginator)
    if not paginator.page_size and not size:
        return ()
    words = "Cursor of a page, taken from an earlier answer; leave out for the first page."
    return (
        Parameter(paginator.cursor_query_param, {"type": "string", "description": words}),
        *size,
    )


def size_parameters(paginator: Any) -> Parameters:
    """Describe the choice of the page size, where the paginator gives one."""
    if not paginator.page_size_query_param:
        return ()
    schema = rows(paginator.page_size, paginator.max_page_size)
    closed = numbers(paginator, "get_page_size", 1)
    return (Parameter(paginator.page_size_query_param, schema, closed=closed),)


def numbers(paginator: Any, reader: str, least: int) -> WholeNumbers | None:
    """Return the numbers that a paginator reads; None where its own code may read others."""
    return WholeNumbers(least) if is_drf_code(type(paginator), reader) else None


def rows(default: int | None, most: int | None) -> Schema:
    """Describe a number of rows."""
    schema: Schema = {"type": "integer", "minimum": 1, "maximum": most, "default": default}
    known = {name: value for name, value in schema.items() if value is not None}
    return explain(known, "Rows per page")


FAMILIES: dict[type, Callable[[Any], Parameters]] = {
    pagination.PageNumberPagination: by_number,
    pagination.LimitOffsetPagination: by_offset,
    pagination.CursorPagination: by_cursor,
}


def page_schema(paginator: Any, rows_schema: Schema) -> Schema:
    """Return the schema of a page; ``{}`` if the answer need not be one of the stock pages.

    Args:
        paginator: the paginator.
        rows_schema: the schema of the list of rows.
    """
    if not always_pages(paginator):
        return {}
    links = is_drf_code(type(paginator), "get_next_link", "get_previous_link")
    link: Schema = {"type": ["string", "null"]} if links else {}
    members: Schema = {"next": link, "previous": link, "results": rows_schema}
    if not isinstance(paginator, pagination.CursorPagination):
        members = {"count": count_schema(paginator), **members}
    return {"type": "object", "properties": members}


def always_pages(paginator: Any) -> bool:
    """Return True if a list is always answered by a stock page, whatever the query says."""
    if not any(isinstance(paginator, family) for family in FAMILIES):
        return False
    stock = is_drf_code(type(paginator), "paginate_queryset", "get_paginated_response")
    if isinstance(paginator, pagination.LimitOffsetPagination):
        return stock and bool(paginator.default_limit) and is_drf_code(type(paginator), "get_limit")
    sized = is_drf_code(type(paginator), "get_page_size")
    return stock and sized and bool(paginator.page_size)


def count_schema(paginator: Any) -> Schema:
    """Return the schema of a page's count, open for a paginator that counts its own way."""
    django_paginator = getattr(paginator, "django_paginator_class", Paginator)
    counts = not hasattr(paginator, "get_count") or is_drf_code(type(paginator), "get_count")
    return {"type": "integer"} if counts and django_paginator is Paginator else {}
