"""Asking for less: only some of the serializer's fields, nested ones by dots."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

Wanted: TypeAlias = "dict[str, Wanted | None]"
"""What is wanted of an object, by name: None for all of a member, else what of it."""


def field_paths(output_schema: Mapping[str, Any]) -> list[str]:
    """Return the paths that can be selected, ``customer`` and ``customer.name``.

    Args:
        output_schema: the schema of the view's own value; of a page or a list, the fields
            of its rows are meant. Empty if nothing is known.
    """
    return list(paths(row_schema(output_schema), ""))


def row_schema(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of what fields are selected from: a row, or the object."""
    properties = schema.get("properties", {})
    return row_of(properties["results"] if is_page(properties) else schema)


def row_of(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of the objects in a list, a list of lists looked through."""
    while "items" in schema:
        schema = schema["items"]
    return schema


def paths(schema: Mapping[str, Any], prefix: str) -> Iterator[str]:
    """Yield the paths of an object's members, lists of objects looked through."""
    for name, member in schema.get("properties", {}).items():
        if is_selectable(name):
            yield f"{prefix}{name}"
            yield from paths(row_of(member), f"{prefix}{name}.")


def is_selectable(name: str) -> bool:
    """Return whether a name is read as itself, not as a path or as several names."""
    return name == name.strip() != "" and "." not in name and "," not in name


def is_page(members: Collection[str]) -> bool:
    """Return whether an object is what REST framework's paginators put around rows."""
    return "results" in members and "next" in members


def names_all(output_schema: Mapping[str, Any]) -> bool:
    """Return whether `field_paths` names every field that a serializer can give."""
    return closed(row_schema(output_schema))


def closed(schema: Mapping[str, Any]) -> bool:
    """Return whether no object with named members has others, however deep."""
    members = schema.get("properties", {})
    return not has_others(schema) and all(closed(row_of(member)) for member in members.values())


def has_others(schema: Mapping[str, Any]) -> bool:
    """Return whether an object says that it may have members besides those it names."""
    return schema.get("additionalProperties") is True


def unknown_paths(selected: Iterable[str], output_schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths that lead to nothing.

    Where the schema leaves open what a member holds, every path below it may lead somewhere.
    """
    row = row_schema(output_schema)
    return (path for path in selected if not leads_somewhere(path, row))


def leads_somewhere(path: str, schema: Mapping[str, Any]) -> bool:
    """Return whether a schema allows for a value at a path."""
    for name in path.split("."):
        schema = row_of(schema)
        members = schema.get("properties", {})
        if name in members:
            schema = members[name]
        elif not name or not may_have_others(schema):
            return False
        else:
            schema = {}
    return True


def may_have_others(schema: Mapping[str, Any]) -> bool:
    """Return whether a value may have members that its schema does not name."""
    if "properties" in schema:
        return has_others(schema)
    types = schema.get("type", "object")
    return "object" in types or "array" in types


def nearest_path(path: str, known: Collection[str]) -> str | None:
    """Return the known path most like another one, or like its end; None if none is."""
    end = path.rpartition(".")[2]
    matches = (difflib.get_close_matches(text, known, n=1) for text in (path, end))
    return next((found[0] for found in matches if found), None)


def select(data: Any, selected: Iterable[str]) -> Any:
    """Return a view's value with the selected fields only, in the value's own order.

    Of a page, the rows are selected from; what is no object stays as it is. Without any
    selected, all of it stays.

    Args:
        data: the view's value.
        selected: paths as `field_paths` gives them.
    """
    wanted = wanted_of(selected) or None
    if isinstance(data, Mapping) and is_page(data):
        return {**data, "results": pick(data["results"], wanted)}
    return pick(data, wanted)


def wanted_of(selected: Iterable[str]) -> Wanted:
    """Return paths as a tree; a member wanted whole is so even where a part is as well."""
    wanted: Wanted = {}
    for path in selected:
        *around, last = path.split(".")
        inside: Wanted | None = wanted
        for name in around:
            inside = None if inside is None else inside.setdefault(name, {})
        if inside is not None:
            inside[last] = None
    return wanted


def pick(value: Any, wanted: Wanted | None) -> Any:
    """Return what is wanted of a value."""
    if wanted is None:
        return value
    if isinstance(value, Mapping):
        return {
            name: pick(member, wanted[str(name)])
            for name, member in value.items()
            if str(name) in wanted
        }
    if isinstance(value, (list, tuple)):
        return [pick(item, wanted) for item in value]
    return value
