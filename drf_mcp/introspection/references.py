"""References of a schema, put in place of what they name."""

from __future__ import annotations

from typing import Any

from drf_mcp.introspection.field_schema import facts_of, with_facts
from drf_mcp.introspection.types import Schema
from drf_mcp.json_text import JSONPointer


def resolved(schema: Any, root: Any, inside: tuple[str, ...] = ()) -> Any:
    """Return a schema with every local ``$ref`` replaced by what it names.

    A reference to something that encloses it, or to nothing, becomes the open schema.

    Args:
        schema: the schema, or any part of one.
        root: the document that the references point into.
        inside: the references being replaced around this part.
    """
    if isinstance(schema, list):
        return [resolved(member, root, inside) for member in schema]
    if not isinstance(schema, dict):
        return schema
    members = {
        name: resolved(member, root, inside) for name, member in schema.items() if name != "$defs"
    }
    reference = members.get("$ref")
    if not isinstance(reference, str):
        return with_facts(members, facts_of(schema))
    beside = {name: member for name, member in members.items() if name != "$ref"}
    return {**target(reference, root, inside), **beside}


def target(reference: str, root: Any, inside: tuple[str, ...]) -> Schema:
    """Return the resolved schema that a reference names, ``{}`` if it cannot be had."""
    if reference in inside or not reference.startswith("#/"):
        return {}
    found = root
    for name in JSONPointer(reference[1:]).path:
        found = found.get(name) if isinstance(found, dict) else None
    schema = resolved(found, root, (*inside, reference))
    return schema if isinstance(schema, dict) else {}
