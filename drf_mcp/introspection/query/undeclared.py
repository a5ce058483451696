"""Query parameters that nothing declares and that code is seen to read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

from rest_framework.serializers import BaseSerializer
from rest_framework.settings import api_settings

from drf_mcp.introspection.fields.serializers import nested
from drf_mcp.introspection.inspection import Inspection
from drf_mcp.introspection.source.overrides import is_left_to_frameworks
from drf_mcp.introspection.source.queries import (
    QueryReading,
    is_framework,
    query_of_class,
    query_of_member,
)
from drf_mcp.introspection.types import Parameter, Parameters, Schema

NOTHING = QueryReading({})
NOT_READ = QueryReading({}, is_open=True)
SERIALIZING = frozenset({"get_serializer", "get_serializer_class"})


class ReadQuery:
    """What the code of an endpoint reads of the query by itself.

    Args:
        inspection: the endpoint.
        filters: the view's filters take part.
        pages: its paginator takes part.
    """

    def __init__(self, inspection: Inspection, *, filters: bool, pages: bool) -> None:
        self.inspection = inspection
        self.view: Any = inspection.view
        self.method = inspection.method
        self.filters = filters
        self.pages = pages

    def parameters(self) -> Parameters:
        """Return an optional parameter for each name, a text where nothing says more."""
        reading = self.reading()
        self.inspection.query_reading = reading
        found = [
            Parameter(name, array_of_texts(), multiple="repeat")
            if several
            else Parameter(name, {"type": "string"})
            for name, several in reading.names.items()
            if name != api_settings.URL_FORMAT_OVERRIDE
        ]
        for target in reading.schemas:
            found += members_of(target)
        return tuple(found)

    def reading(self) -> QueryReading:
        """Return what the view, its serializers, its filters and its paginator read."""
        handler = self.inspection.handler_name
        reading = self.members(type(self.view), "dispatch", handler)
        classes = list(reading.serializers)
        if reading.members & SERIALIZING:
            classes += self.chosen_serializers()
        parts = [query_of_class(part, self.method) for part in parts_of(classes)]
        parts += self.filter_readings() if self.filters else []
        paginator = getattr(self.view, "paginator", None) if self.pages else None
        if paginator is not None:
            parts.append(self.members(type(paginator), "paginate_queryset"))
        return reduce(QueryReading.beside, parts, reading)

    def members(self, owner: type, *names: str) -> QueryReading:
        """Return what members of a class read."""
        readings = (query_of_member(owner, name, self.method) for name in names)
        return reduce(QueryReading.beside, readings, NOTHING)

    def chosen_serializers(self) -> list[type]:
        """Return the serializer classes that the view gives to one caller or another."""
        ask = self.inspection.asked_quietly
        found = [ask(lambda: self.view.get_serializer_class())]
        if not is_left_to_frameworks(type(self.view), ("get_serializer_class",)):
            found.append(ask(lambda: self.inspection.privileged.view.get_serializer_class()))
        return [chosen for chosen in found if isinstance(chosen, type)]

    def filter_readings(self) -> list[QueryReading]:
        """Return what the filter backends and the filter set read."""
        backends = self.inspection.asked_quietly(lambda: tuple(self.view.filter_backends)) or ()
        readings = [self.members(backend, "filter_queryset") for backend in backends]
        filterset_class = self.inspection.asked_quietly(lambda: self.view.filterset_class)
        if isinstance(filterset_class, type):
            items = getattr(filterset_class, "base_filters", {}).values()
            classes = dict.fromkeys((filterset_class, *map(type, items)))
            readings += [query_of_class(part, self.method) for part in classes]
        return readings


def parts_of(classes: list[type]) -> Iterator[type]:
    """Yield serializer classes and the classes of the fields that they declare."""
    waiting, seen = list(classes), set()
    while waiting:
        part = waiting.pop()
        if part in seen or is_framework(part):
            continue
        seen.add(part)
        yield part
        declared = getattr(part, "_declared_fields", {}).values()
        inner = [*declared] + [getattr(f, "child", None) for f in declared]
        waiting += [type(field) for field in inner if field is not None]
        many = getattr(getattr(part, "Meta", None), "list_serializer_class", None)
        waiting += [many] if isinstance(many, type) else []


def members_of(target: type) -> Iterator[Parameter]:
    """Yield the parameters that a serializer or a form reads, when it is given the query."""
    if not issubclass(target, BaseSerializer):
        for name in getattr(target, "base_fields", {}):
            yield Parameter(name, {"type": "string"})
        return
    for name, schema in nested(target()).get("properties", {}).items():
        yield Parameter(name, schema, multiple="repeat" if schema.get("type") == "array" else None)


def array_of_texts() -> Schema:
    """Return the schema of a parameter that is read as a list."""
    return {"type": "array", "items": {"type": "string"}}
