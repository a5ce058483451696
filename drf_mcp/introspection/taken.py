"""Which members of a body pass that no field of a serializer describes."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from django.forms import BaseForm
from rest_framework import serializers
from rest_framework.fields import empty

from drf_mcp.exceptions import attempt
from drf_mcp.introspection.described_field import DescribedField
from drf_mcp.introspection.field_schema import FieldSchema, explain
from drf_mcp.introspection.forms import find_writable_fields
from drf_mcp.introspection.serializer_fields import walk_fields
from drf_mcp.introspection.source.members import (
    find_flags,
    find_leaves,
    is_drf_code,
    is_framework_code,
)
from drf_mcp.introspection.source.readings import read_class, read_function
from drf_mcp.introspection.source.request_members import BodyReading
from drf_mcp.introspection.source.values import BODY, INITIAL_DATA, PARENT, RequestPart
from drf_mcp.introspection.types import ANY, MemberNames, Place, Schema, ValueInfos
from drf_mcp.introspection.unknown import (
    ANY_VALUE,
    EMPTY,
    Notes,
    UnknownMapping,
    without_database,
)

# Attributes of all fields, which say nothing of what a project's class does.
OPTIONS = {"read_only", "write_only", "required", "allow_null", "partial"}
CLASSES = ("permission_classes", "throttle_classes")
READ = "Read by the code of the server"
ROW = "Names a row that exists"


@dataclass
class TakenMembers:
    """The members that code takes besides fields, and the places where it may take any.

    Attributes:
        names: the members by the places of their objects.
        openings: the line of the code, and whether it reads the objects inside as well, by the
            places of objects.
    """

    names: dict[Place, dict[str, None]] = field(default_factory=dict)
    openings: dict[Place, tuple[str, bool]] = field(default_factory=dict)

    def find_names(self, place: Place) -> list[str]:
        found = (names for at, names in self.names.items() if matches(at, place))
        return list(dict.fromkeys(name for names in found for name in names))

    def find_opening(self, place: Place) -> str:
        for at, (line, is_deep) in self.openings.items():
            depth = min(len(at), len(place)) if is_deep else len(place)
            if matches(at, place[:depth]):
                return line
        return ""

    def add(self, reading: BodyReading, roots: dict[str, Place]) -> None:
        """Add what code takes.

        Args:
            roots: the places of what the code knows as the body and the like.
        """
        for part, names in reading.names.items():
            self.names.setdefault(find_place(part, roots), {}).update(names)
        for part, kind in reading.made:
            made: Iterable[str] = attempt(partial(name_fields, kind), ())
            self.names.setdefault(find_place(part, roots), {}).update(dict.fromkeys(made))
        for part, opening in reading.opened.items():
            self.openings.setdefault(find_place(part, roots), opening)

    def union(self, other: TakenMembers) -> TakenMembers:
        names = {place: dict(found) for place, found in self.names.items()}
        for place, found in other.names.items():
            names.setdefault(place, {}).update(found)
        return TakenMembers(names, {**other.openings, **self.openings})

    @property
    def key(self) -> Any:
        """The same for members with the same openings."""
        names = tuple((place, tuple(found)) for place, found in self.names.items())
        return names, tuple(self.openings.items())

    # --- What a description says of them

    def open_values(self, name: str, infos: ValueInfos) -> ValueInfos:
        """Return what is known of the values of a field, with the members that code takes."""
        found = dict(infos)
        for place, info in infos.items():
            at = (name, *place)
            if info.members is not None:
                found[place] = replace(info, members=self.open_members(info.members, at))
        return found

    def open_members(self, members: MemberNames, place: Place) -> MemberNames:
        names = dict.fromkeys((*members.writable, *self.find_names(place)))
        return replace(members, writable=tuple(names), opened_by=self.find_opening(place))

    def add_members(self, schema: Schema, field: Any, place: Place) -> Schema:
        """Return the schema of a field with the members that code takes inside it."""
        if isinstance(field, serializers.ListSerializer):
            items = schema.get("items")
            if not isinstance(items, dict):
                return schema
            inner = self.add_members(items, field.child, (*place, ANY))
            return schema if inner is items else FieldSchema.of(schema) | {"items": inner}
        properties = schema.get("properties")
        if not isinstance(field, serializers.Serializer) or not isinstance(properties, dict):
            return schema
        further = {
            name: explain({}, READ) for name in self.find_names(place) if name not in properties
        }
        further |= self.describe_read_only(field, place, further)
        inner = {
            name: self.add_members(described, field.fields[name], (*place, name))
            for name, described in properties.items()
            if name in field.fields
        }
        changed = {n: s for n, s in inner.items() if s is not properties[n]}
        if not further and not changed:
            return schema
        every = {**properties, **changed, **further}
        return FieldSchema.of(schema) | {"properties": every}

    def describe_read_only(self, field: Any, place: Place, read: Iterable[str]) -> dict[str, Any]:
        # A key distinguishes rows for code that reads the rows as they were sent.
        model = getattr(getattr(field, "Meta", None), "model", None)
        keys = {"id", "pk", "uuid", *([model._meta.pk.name] if model is not None else [])}
        is_open, found = bool(self.find_opening(place)), dict[str, Any]()
        for name, each in field.fields.items():
            if each.read_only and (name in read or (is_open and name in keys)):
                shown = attempt(partial(show, each), FieldSchema())
                found[name] = explain(shown, ROW if name in keys else READ)
        return found


def show(field: Any) -> FieldSchema:
    return DescribedField(field).represented_schema


def matches(pattern: Place, place: Place) -> bool:
    return len(pattern) == len(place) and all(
        one in (ANY, other) for one, other in zip(pattern, place, strict=True)
    )


def find_place(part: RequestPart, roots: dict[str, Place]) -> Place:
    return (*roots[part.place], *part.steps)


def name_fields(kind: Any) -> list[str]:
    return [*(kind.base_fields if issubclass(kind, BaseForm) else find_writable_fields(kind()))]


def find_taken(serializer: Any, view_class: Any) -> TakenMembers:
    """Return what the code of a serializer, its fields, defaults and validators takes."""
    taken = TakenMembers()
    for place, part in walk_fields(serializer):
        roots = {BODY: (), INITIAL_DATA: place, PARENT: place[:-1]}
        for reading in read_part(part, view_class):
            taken.add(reading, roots)
        if not is_drf_code(type(part), "get_value") and place:
            names = find_keys_of_value(part)
            taken.names.setdefault(place[:-1], {}).update(names)
    return taken


def read_part(part: Any, view_class: Any) -> Iterator[BodyReading]:
    part_class: Any = type(part)
    names = find_flags(part_class) - OPTIONS
    flags = ((name, v) for name, v in vars(part).items() if type(v) is bool and name in names)
    yield read_class(part_class, view_class=view_class, flags=tuple(sorted(flags)))[1]
    validators: Sequence[Any] = attempt(lambda: list(part.validators), [])
    for own in (*validators, getattr(part, "default", empty)):
        if own is empty or own is None or isinstance(own, (str, int, float, list, dict)):
            continue
        if inspect.isfunction(own):
            yield read_function(own)
        else:
            owner: Any = own if inspect.isclass(own) else type(own)
            if not is_framework_code(owner):
                yield read_class(owner, view_class=view_class)[1]


def ask_value(field: Any, answer: Any = EMPTY) -> tuple[Any, dict[str, None]]:
    """Return the value of a field whose body has `answer` for each key, and the keys it reads."""
    notes = Notes(answer)
    with without_database(notes):
        found = attempt(lambda: field.get_value(UnknownMapping(notes)), empty)
    return found, notes.keys


def find_keys_of_value(field: Any) -> dict[str, None]:
    """Return the keys that a field's own `get_value()` reads, besides its own."""
    keys = ask_value(field)[1] | ask_value(field, ANY_VALUE)[1]
    return {key: None for key in keys if key != field.field_name}


def reads_elsewhere(field: Any) -> bool:
    """Return whether a field has a value although the body has no member of its name."""
    if is_drf_code(type(field), "get_value"):
        return False
    found, keys = ask_value(field)
    return field.field_name not in keys or found is not empty


def find_taken_by_view(view: Any, reading: BodyReading) -> TakenMembers:
    """Return what the handler, the steps around it and the permissions take.

    Args:
        reading: what the code of the view takes.
    """
    view_class, readings = type(view), [reading]
    for kind in CLASSES:
        every: Iterable[Any] = attempt(partial(getattr, view, kind), ()) or ()
        leaves = filter(inspect.isclass, find_leaves(every))
        readings += [
            read_class(each, view_class=view_class)[1]
            for each in leaves
            if not is_framework_code(each)
        ]
    taken = TakenMembers()
    for each in readings:
        # Which serializers the handler gives the whole body is read elsewhere.
        inner = {made: None for made in each.made if made[0].steps}
        taken.add(replace(each, made=inner), {BODY: (), INITIAL_DATA: (), PARENT: ()})
    return taken
