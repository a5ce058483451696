"""All query parameters of an endpoint."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property, reduce
from typing import Any

from rest_framework.generics import GenericAPIView
from rest_framework.mixins import ListModelMixin
from rest_framework.permissions import SAFE_METHODS
from rest_framework.serializers import BaseSerializer
from rest_framework.settings import api_settings

from drf_mcp.exceptions import attempt
from drf_mcp.introspection.described_field import DescribedField
from drf_mcp.introspection.inspection import (
    RETURN_EARLY,
    WRITE_PLAINLY,
    Inspection,
)
from drf_mcp.introspection.paths import find_version_parameters
from drf_mcp.introspection.query.backends import FilterBackends
from drf_mcp.introspection.query.pagination import find_pages
from drf_mcp.introspection.read_members import TEXT, describe_member, find_member_info
from drf_mcp.introspection.source.members import (
    find_leaves,
    find_own,
    find_synchronous_name,
    is_framework_code,
)
from drf_mcp.introspection.source.readings import read_class
from drf_mcp.introspection.source.request_members import MemberReading, QueryReading
from drf_mcp.introspection.types import Parameter, Parameters

SERIALIZING = frozenset({"get_serializer", "get_serializer_class"})
# Query parameters that change the form of an answer, and select no rows.
SHAPING = frozenset({"depth", "embed", "exclude", "expand", "fields", "include", "lang", "omit"})
PAGING = frozenset({"cursor", "limit", "offset", "page", "page_size", "pagesize", "per_page"})
NONE: Parameters = ()
# Of a form with more fields none is listed: the list of tools stays short.
MOST_LISTED = 20


class QueryParameters:
    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.view: Any = inspection.view

    def get_parameters(self) -> Parameters:
        inspection, view = self.inspection, self.view
        undeclared = inspection.attempt(self._find_undeclared, WRITE_PLAINLY, NONE)
        is_filtered = self._is_called("filter_queryset")
        filtering = FilterBackends(self.inspection).get_parameters() if is_filtered else ()
        versions = inspection.attempt(lambda: find_version_parameters(view), RETURN_EARLY, NONE)
        others = (replace(p, role="page") for p in (*self.pages, *versions))
        found: dict[str, Parameter] = {}
        # The first of one name is kept: a filter comes before the paginator.
        for parameter in (*self.close((*filtering, *others)), *undeclared):
            found.setdefault(parameter.name, parameter)
        for name, declared in self.inspection.read_declared_parameters("query").items():
            described = found.pop(name, None)
            if declared is not None:
                known = declared.known_as(described)
                is_option = described is None and name in SHAPING | PAGING
                found[name] = replace(known, role="page") if is_option else known
        write = self.inspection.write_schema
        return tuple(replace(p, schema=write(p.schema)) for p in found.values())

    def close(self, parameters: Iterable[Parameter]) -> Parameters:
        # No value is known to be ignored where other code may read the parameter as well.
        found, reading = tuple(parameters), self.reading
        counts = Counter(parameter.name for parameter in found)
        is_open = bool(reading.opened_by or reading.computed)
        return tuple(
            replace(parameter, closed=None)
            if is_open or counts[parameter.name] > 1 or parameter.name in reading.names
            else parameter
            for parameter in found
        )

    @cached_property
    def pages(self) -> Parameters:
        if not self._is_called("paginate_queryset"):
            return ()
        return self.inspection.attempt(self._find_page_parameters, RETURN_EARLY, NONE)

    def _find_page_parameters(self) -> Parameters:
        paginator = self.view.paginator
        return find_pages(paginator).get_parameters(self.view) if paginator is not None else ()

    def _is_called(self, hook: str) -> bool:
        # An extra action inherits the viewset's filters and paginator whether it uses them or not,
        # and so does a standard action that the project overrides: only the source shows it. That
        # get_object() filters as well does not count.
        inspection = self.inspection
        if not isinstance(self.view, GenericAPIView):
            return False
        if inspection.reading is not None:
            return hook in inspection.calls
        lists = (
            find_synchronous_name(inspection.handler_name) == "list" or not inspection.is_viewset
        )
        return inspection.method == "GET" and lists and isinstance(self.view, ListModelMixin)

    # --- Parameters that code reads and nothing declares

    @cached_property
    def reading(self) -> QueryReading:
        unknown = QueryReading(opened_by=self.inspection.place)
        return self.inspection.attempt(self._read_code, WRITE_PLAINLY, unknown)

    def _find_undeclared(self) -> Parameters:
        found = [
            self._describe_read(name, reading)
            for name, reading in self.reading.names.items()
            if name != api_settings.URL_FORMAT_OVERRIDE
        ]
        for target in self.reading.schemas:
            found += self.get_fields(target)
        return tuple(found)

    def _describe_read(self, name: str, reading: MemberReading) -> Parameter:
        # A value that is there in any case filters nothing.
        shapes = reading.hooks == {"shape"} or bool(reading.default)
        shapes = shapes or ("rows" not in reading.hooks and name in SHAPING | PAGING)
        return Parameter(
            name,
            describe_member(reading, TEXT),
            required=reading.is_needed and "" in reading.hooks,
            multiple="repeat" if reading.several else None,
            value_info=find_member_info(reading),
            listed=bool(reading.hooks) and not self._narrows_a_write(reading),
            is_unread=not reading.hooks,
            role="page" if shapes else "filter",
        )

    def _narrows_a_write(self, reading: MemberReading) -> bool:
        """Return whether a name only narrows which rows a write of one object may reach."""
        inspection = self.inspection
        chooses = {"get_queryset", "filter_queryset"} & inspection.calls
        is_write = inspection.method not in SAFE_METHODS and not chooses
        return is_write and reading.hooks == {"rows"} and not reading.is_needed

    def get_fields(self, target: type) -> Iterator[Parameter]:
        # The parameters of a serializer or form class that is given the query as data.
        if not issubclass(target, BaseSerializer):
            names = getattr(target, "base_filters", getattr(target, "base_fields", {}))
            for name in names:
                yield Parameter(name, TEXT, listed=len(names) <= MOST_LISTED)
            return
        members = DescribedField(target()).describer.get_input_schema().get("properties", {})
        for name, schema in members.items():
            multiple = "repeat" if schema.get("type") == "array" else None
            yield Parameter(name, schema, multiple=multiple)

    def _read_code(self) -> QueryReading:
        reading = self.inspection.query_reading
        classes = list(reading.serializers)
        if reading.followed & SERIALIZING:
            classes += self._find_serializers()
        parts = _read_serializers(classes, self._facts)
        view_class = type(self.view)
        parts += [
            read_class(each, "shape", *self._facts, view_class=view_class)[0]
            for each in self._find_permissions()
        ]
        parts += self._read_filters() if self._is_called("filter_queryset") else []
        paginator = getattr(self.view, "paginator", None)
        if paginator is not None and self._is_called("paginate_queryset"):
            parts.append(read_class(type(paginator), "shape", *self._facts)[0])
        return reduce(QueryReading.union, parts, reading)

    def _find_permissions(self) -> Iterator[type]:
        every: Iterable[Any] = attempt(lambda: self.view.get_permissions(), ())
        return (type(p) for p in find_leaves(every) if not is_framework_code(type(p)))

    def _find_serializers(self) -> list[type]:
        # The view may give another class to another caller.
        inspection = self.inspection
        found = [inspection.chosen_class]
        if any(find_own(type(self.view), "get_serializer_class")):
            found.append(inspection.privileged.chosen_class)
        return [chosen for chosen in found if isinstance(chosen, type)]

    def _read_filters(self) -> list[QueryReading]:
        backends = attempt(lambda: tuple(self.view.filter_backends), ())
        readings = [read_class(each, "rows", *self._facts)[0] for each in backends]
        filterset_class = attempt(lambda: self.view.filterset_class, None)
        if isinstance(filterset_class, type):
            items = getattr(filterset_class, "base_filters", {}).values()
            classes = dict.fromkeys((filterset_class, *map(type, items)))
            readings += [read_class(each, "rows")[0] for each in classes]
        return readings

    @property
    def _facts(self) -> tuple[str, str]:
        return self.inspection.handler_name, self.inspection.method


def _read_serializers(classes: list[type], facts: tuple[str, str]) -> list[QueryReading]:
    # A method of one serializer may make another one.
    found: dict[type, QueryReading] = {}
    while classes:
        new = [each for each in _walk_serializers(classes) if each not in found]
        found |= {each: read_class(each, "shape", *facts)[0] for each in new}
        classes = [m for each in new for m in (*found[each].serializers, *_find_named(each))]
    return list(found.values())


def _find_named(owner: type) -> Iterator[type]:
    # The serializers that methods name, such as those for method fields.
    for member in filter(inspect.isfunction, vars(owner).values()):
        named = (member.__globals__.get(name) for name in member.__code__.co_names)
        yield from (n for n in named if inspect.isclass(n) and issubclass(n, BaseSerializer))


def _walk_serializers(classes: list[type]) -> Iterator[type]:
    waiting, seen = list(classes), set()
    while waiting:
        part = waiting.pop()
        if part in seen or is_framework_code(part):
            continue
        seen.add(part)
        yield part
        declared = getattr(part, "_declared_fields", {}).values()
        inner = [*declared, *(getattr(field, "child", None) for field in declared)]
        waiting += [type(field) for field in inner if field is not None]
        many = getattr(getattr(part, "Meta", None), "list_serializer_class", None)
        waiting += [many] if isinstance(many, type) else []
