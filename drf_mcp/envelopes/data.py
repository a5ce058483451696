"""The view's own value inside an envelope: unwrapped from its page, wrapped as an object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MappingView
from typing import Any

from django.db.models import QuerySet

from drf_mcp.outcomes import PAGE_MEMBERS

# What REST framework's encoder writes as an array.
LISTS = (list, tuple, set, frozenset, QuerySet, MappingView, Iterator)


def drop_page_members(data_schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of the view's value without the members of a page that repeat facts."""
    properties = data_schema.get("properties", {})
    if "results" not in properties:
        return data_schema
    return {
        **data_schema,
        "properties": {name: properties[name] for name in properties if name not in PAGE_MEMBERS},
        "required": [name for name in data_schema.get("required", []) if name not in PAGE_MEMBERS],
    }


def wrap_as_object(value: Any) -> Mapping[str, Any]:
    """Return a value as an object: a list as ``results``, a scalar as ``result``."""
    if isinstance(value, Mapping):
        return value
    if value is None:
        return {}
    return {"results" if isinstance(value, LISTS) else "result": value}


def wrap_schema_as_object(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of `wrap_as_object`, given that of the value; open if not known."""
    kinds = list_types(schema)
    if kinds == {"object"}:
        return {**schema, "type": "object"}
    if kinds == {"array"}:
        return {"type": "object", "properties": {"results": {**schema, "type": "array"}}}
    if kinds and kinds.isdisjoint({"object", "array"}):
        return {"type": "object", "properties": {"result": schema}}
    return {"type": "object"}


def list_types(schema: dict[str, Any]) -> set[str]:
    """Return the JSON types that a schema names, null left out."""
    named = schema.get("type", [])
    return {named} - {"null"} if isinstance(named, str) else set(named) - {"null"}
