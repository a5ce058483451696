"""Asking for less: only some of the serializer's fields, nested ones by dots."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any


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
        yield f"{prefix}{name}"
        yield from paths(row_of(member), f"{prefix}{name}.")


def is_page(members: Collection[str]) -> bool:
    """Return whether an object is what REST framework's paginators put around rows."""
    return "results" in members and "next" in members


def select(data: Any, selected: Iterable[str]) -> Any:
    """Return a view's value with the selected fields only, in the value's own order.

    Of a page, the rows are selected from; what is no object stays as it is.

    Args:
        data: the view's value.
        selected: paths as `field_paths` gives them.
    """
    if isinstance(data, Mapping) and is_page(data):
        return {**data, "results": pick(data["results"], list(selected))}
    return pick(data, list(selected))


def below(selected: Iterable[str]) -> dict[str, list[str]]:
    """Return the names that paths start with, each with what is selected below it.

    Nothing below a name means all of it, even where another path names a part.
    """
    rest: dict[str, list[str]] = {}
    for path in selected:
        name, _, further = path.partition(".")
        rest.setdefault(name, []).append(further)
    return {name: [] if "" in further else further for name, further in rest.items()}


def pick(value: Any, selected: list[str]) -> Any:
    """Return what is selected of a value; everything if nothing in particular is."""
    if not selected:
        return value
    if isinstance(value, Mapping):
        wanted = below(selected)
        return {
            name: pick(member, wanted[name]) for name, member in value.items() if name in wanted
        }
    if isinstance(value, (list, tuple)):
        return [pick(item, selected) for item in value]
    return value


def unknown_paths(selected: Iterable[str], known: Collection[str]) -> dict[str, str | None]:
    """Return the paths that are not known, each with the nearest one that is."""
    unknown = [path for path in selected if path not in known]
    nearest = (difflib.get_close_matches(path, known, n=1) for path in unknown)
    return {path: found[0] if found else None for path, found in zip(unknown, nearest, strict=True)}
