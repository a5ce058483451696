"""The rows that the answer of a list shows, and those that its queryset holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from django.db.models import Model, QuerySet
from rest_framework.fields import Field
from rest_framework.relations import HyperlinkedIdentityField
from rest_framework.utils.serializer_helpers import ReturnList

from drf_mcp.dispatch.stock_lists import is_stock, is_stock_row
from drf_mcp.introspection.source.members import is_drf_code
from drf_mcp.json_text import JSONPointer

# The most keys in one query: some databases take no longer lists.
MOST_KEYS = 500
# How many mappings inside one another are searched for the rows of an answer.
DEEPEST = 3


def make_filterable(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return a queryset of the same rows that can be filtered and ordered."""
    if rows.query.is_sliced or rows.query.distinct_fields:
        every: QuerySet[Any] = QuerySet(rows.model, using=rows.db)
        return every.filter(pk__in=rows.values("pk"))
    return rows


def find_keys(rows: QuerySet[Any], keys: Iterable[Any]) -> set[str]:
    """Return those keys that are primary keys of the rows, as text."""
    rows, asked = make_filterable(rows).order_by(), list(keys)
    if len(asked) > MOST_KEYS:
        # An answer often shows all rows: then one query reads all keys.
        most = 2 * len(asked)
        every_key = list(rows.values_list("pk", flat=True)[: most + 1])
        if len(every_key) <= most:
            return {str(key) for key in asked}.intersection(map(str, every_key))
    parts = (asked[start : start + MOST_KEYS] for start in range(0, len(asked), MOST_KEYS))
    return {
        str(key) for part in parts for key in rows.filter(pk__in=part).values_list("pk", flat=True)
    }


class ShownRows:
    """The rows in the data of a list's answer.

    Attributes:
        rows: the objects that REST framework serialised, whose items show their keys.
        is_known: False where other code may have written rows.
    """

    def __init__(self, data: Any, column: str = "pk") -> None:
        self.rows: list[Model] = []
        found = [shown for _, shown in find_return_lists(data)]
        self.is_known = bool(found) and all(map(is_complete, found))
        for shown in found if self.is_known else ():
            for row, item in zip(shown.serializer.instance, shown, strict=True):
                if not isinstance(row, Model):
                    self.is_known = False
                elif shows(item, shown.serializer.child, row, column):
                    self.rows.append(row)


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


def find_return_lists(data: Any, pointer: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    # Yields the pointer and the list.
    if isinstance(data, ReturnList):
        yield pointer, data
    elif isinstance(data, Mapping) and depth < DEEPEST:
        for name, value in data.items():
            inner = JSONPointer.from_parent(pointer, str(name))
            yield from find_return_lists(value, inner, depth + 1)


def is_complete(shown: Any) -> bool:
    # A serializer may write fewer rows than it was given.
    instance = getattr(shown.serializer, "instance", None)
    return isinstance(instance, Iterable) and len(list(instance)) == len(shown)


@dataclass(frozen=True)
class ShownList:
    """A list in an answer.

    Attributes:
        pointer: where it is.
        model: the label of the model of its rows.
        keys: the primary key of each row as text, None for a row that is not asked for.
    """

    pointer: str
    model: str
    keys: Sequence[Any]


def find_shown_lists(data: Any) -> Iterator[ShownList]:
    """Yield the lists of an answer whose rows REST framework made of objects of one model."""
    for pointer, shown in find_return_lists(data):
        serializer = shown.serializer
        if is_complete(shown) and is_drf_code(type(serializer), "to_representation", "data"):
            rows = list(serializer.instance)
            models = {getattr(row, "_meta", None) for row in rows}
            if len(models) == 1 and (meta := models.pop()) is not None:
                yield ShownList(pointer, meta.label, tuple(str(row.pk) for row in rows))


@dataclass(frozen=True)
class Sealed:
    """What is stored with an answer, to find out later what of it the caller may read.

    Attributes:
        terms: the hash of the caller's ``rights``, whether the view has to find the ``object`` of
            the URL, and the ``model`` of the rows, as JSON.
        lists: the lists of the answer whose rows are known.
    """

    terms: Mapping[str, Any]
    lists: Sequence[ShownList] = ()

    def find_row(self, item: Mapping[str, Any]) -> Any:
        """Return what an item of the answer shows: the key of a row, or of the row that the item is
        a part of; the path and the keys of each list in it; None for neither."""
        if (pointer := item["pointer"]) is None or item["value"] is None:
            return None
        held: list[Any] = []
        key = None
        for shown in self.lists:
            place, _, rest = pointer[len(shown.pointer) + 1 :].partition("/")
            if shown.pointer == pointer or shown.pointer.startswith(f"{pointer}/"):
                path = JSONPointer(shown.pointer[len(pointer) :]).path
                held.append([list(path), list(shown.keys)])
            elif not pointer.startswith(f"{shown.pointer}/"):
                continue
            elif "length" in item and not rest:
                first = int(place)
                held.append([[], list(shown.keys[first : first + item["length"]])])
            elif key is None:
                key = shown.keys[int(place)]
        return held or key


def find_every_key(rows: Sequence[Any]) -> set[Any]:
    keys = {row for row in rows if type(row) is not list}
    if len(keys) < len(rows):
        lists = (row for row in rows if type(row) is list)
        keys.update(key for row in lists for _, held in row for key in held)
    return keys - {None}
