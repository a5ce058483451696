"""The rows that the answer of a list shows, and those that its queryset holds."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Model, QuerySet
from django.db.models.query import ModelIterable
from django.utils.translation import gettext as _
from rest_framework.generics import GenericAPIView
from rest_framework.mixins import ListModelMixin
from rest_framework.serializers import ListSerializer
from rest_framework.utils.serializer_helpers import ReturnList

from drf_mcp.access.authentication_reuse import is_undecorated
from drf_mcp.introspection.source.members import (
    find_member,
    is_drf_code,
    unwrap_function,
    unwrap_member,
)
from drf_mcp.json_text import JSONPointer

# The most keys in one query: some databases take no longer lists.
MOST_KEYS = 500
# How many mappings inside one another are searched for the rows of an answer.
DEEPEST = 3


@functools.lru_cache(maxsize=4096)
def is_stock_list(endpoint: Any) -> bool:
    """Return whether only REST framework's own code runs between queryset and answer."""
    return not find_obstacle(endpoint)


def get_listed_rows(view: Any) -> QuerySet[Any] | None:
    """Return the rows of all pages of a stock list, None where the queryset may have others."""
    rows = view.filter_queryset(view.get_queryset())
    if find_queryset_fault(rows) or not shows_every_row(view.get_serializer([], many=True)):
        return None
    return rows  # type: ignore[no-any-return]


def find_keys(rows: QuerySet[Any], keys: Iterable[Any]) -> set[str]:
    """Return those keys that are primary keys of the rows, as text."""
    if rows.query.is_sliced or rows.query.distinct_fields:
        every: QuerySet[Any] = QuerySet(rows.model, using=rows.db)
        rows = every.filter(pk__in=rows.values("pk"))
    rows, asked = rows.order_by(), list(keys)
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
        rows: the objects that REST framework serialised; None where other code wrote them.
        is_whole: whether the answer is known to have no further pages.
    """

    def __init__(self, data: Any) -> None:
        found = [shown for _, shown in find_return_lists(data)]
        # The last page of REST framework's paginators has no next page.
        is_last = isinstance(data, Mapping) and "next" in data and data["next"] is None
        self.is_whole = data in found if isinstance(data, list) else is_last
        self.rows: list[Model] | None = None
        if found and all(map(is_complete, found)):
            rows = [row for each in found for row in each.serializer.instance]
            self.rows = rows if all(isinstance(row, Model) for row in rows) else None

    def get_keys(self, model: type[Model]) -> set[str] | None:
        """Return the keys of a model's rows as texts, None where none of its rows are known."""
        if self.rows is None:
            return None
        model = model._meta.concrete_model or model
        own = {str(row.pk) for row in self.rows if row._meta.concrete_model is model}
        return own if own or not self.rows else None


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


# The methods that run between the filtered queryset and the answer.
STEPS = ("list", "paginate_queryset", "get_paginated_response", "finalize_response")
# drf-spectacular wraps handlers without changing their answers.
PACKAGES = frozenset({"rest_framework", "drf_spectacular"})


def find_obstacle(endpoint: Any) -> str:
    """Return which code of a project's own may change the answer of a list, "" for none."""
    view_class = endpoint.view_class
    if not issubclass(view_class, ListModelMixin) or not issubclass(view_class, GenericAPIView):
        return "it is no generic list"
    if not is_undecorated(endpoint.route.callback):
        return "its callback has a decorator, which would not be run"
    for name in dict.fromkeys((endpoint.handler_name, *STEPS)):
        if not is_stock_member(view_class, name):
            return f"{name}() is code of its own, which would not be run as for the list"
    return ""


def is_stock_member(owner: type, name: str) -> bool:
    # By the globals, not by __module__: a decorator copies the __module__ of what it wraps, and a
    # class that is made at run time has the __module__ of its metaclass.
    layers = list(unwrap_function(unwrap_member(find_member(owner, name)[0])))
    packages = {layer.__globals__["__name__"].partition(".")[0] for layer, _ in layers}
    # A last layer that still wraps something wraps an object that is no function.
    return bool(layers) and not layers[-1][1] and packages <= PACKAGES


def find_queryset_fault(rows: Any) -> str:
    """Return why the rows of a list cannot be found by primary key, "" if they can."""
    if not isinstance(rows, QuerySet):
        return _("The list is no queryset but %(type)s.") % {"type": type(rows).__name__}
    if not issubclass(rows._iterable_class, ModelIterable):
        return _("The rows of the list are values, not objects.")
    if rows.query.combinator:
        # Translators: the combinator is "union", "intersection" or "difference".
        return _("The list is a %(combinator)s of querysets.") % vars(rows.query)
    if rows.query.extra:
        return _("The queryset of the list has extra(select=...).")
    return ""


def shows_every_row(serializer: Any) -> bool:
    """Return whether a serializer for a list writes each of its rows."""
    return is_stock(serializer, ListSerializer, "to_representation", "data")


def is_stock(instance: Any, base: type | tuple[type, ...], *names: str) -> bool:
    """Return whether an instance of a class of REST framework has that package's own members."""
    return isinstance(instance, base) and all(
        name not in vars(instance) and is_stock_member(type(instance), name) for name in names
    )
