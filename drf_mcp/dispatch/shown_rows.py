"""The rows that a list's answer shows, and the rows of its queryset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from django.db.models import Model, QuerySet
from rest_framework.fields import Field
from rest_framework.relations import HyperlinkedIdentityField
from rest_framework.utils.serializer_helpers import ReturnList

from drf_mcp.dispatch.stock_lists import is_stock, is_stock_row

# How many mappings inside one another are searched for the rows of an answer.
DEEPEST = 3


def make_filterable(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return a queryset of the same rows that can be filtered and ordered."""
    if rows.query.is_sliced or rows.query.distinct_fields:
        every: QuerySet[Any] = QuerySet(rows.model, using=rows.db)
        return every.filter(pk__in=rows.values("pk"))
    return rows


def find_shown_rows(data: Any, column: str) -> list[Model]:
    """Return the objects of a list's answer whose items show the value of their column.

    No rows where code other than REST framework's serializers may have written items.
    """
    found = list(find_return_lists(data))
    pairs = [
        (row, item, shown.serializer.child)
        for shown in (found if all(map(is_complete, found)) else ())
        for row, item in zip(shown.serializer.instance, shown, strict=True)
    ]
    if not all(isinstance(row, Model) for row, _, _ in pairs):
        return []
    return [row for row, item, serializer in pairs if shows(item, serializer, row, column)]


def find_showing(serializer: Any, model: type[Model], column: str) -> dict[str, Any]:
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


def shows(item: Any, serializer: Any, row: Model, column: str) -> bool:
    """Return whether what a serializer wrote for a row has the row's value of a column."""
    value = getattr(row, column, None)
    if value is None or not isinstance(item, Mapping):
        return False
    for name, field in find_showing(serializer, type(row), column).items():
        shown = str(item.get(name))
        if isinstance(field, HyperlinkedIdentityField):
            shown = unquote(shown.partition("?")[0].rstrip("/").rpartition("/")[2])
        if shown == str(value):
            return True
    return False


def shows_column(serializer: Any, model: type[Model], column: str) -> bool:
    """Return whether a serializer shows a column in every row, by REST framework's own code."""
    members = ("to_representation", "get_attribute")
    return is_stock_row(serializer) and any(
        is_stock(field, Field, *members, *(["get_url"] if hasattr(field, "get_url") else ()))
        for field in find_showing(serializer, model, column).values()
    )


def find_return_lists(data: Any, depth: int = 0) -> Iterator[Any]:
    if isinstance(data, ReturnList):
        yield data
    elif isinstance(data, Mapping) and depth < DEEPEST:
        for value in data.values():
            yield from find_return_lists(value, depth + 1)


def is_complete(shown: Any) -> bool:
    # A serializer may write fewer rows than it was given.
    instance = getattr(shown.serializer, "instance", None)
    return isinstance(instance, Iterable) and len(list(instance)) == len(shown)
