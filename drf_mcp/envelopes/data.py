"""The view's own value inside an envelope: unwrapped from its page, wrapped as an object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MappingView
from typing import Any

from django.db.models import QuerySet

from drf_mcp.outcomes import Outcome

# What REST framework's paginators put around the rows; the envelope tells it as facts.
PAGE_MEMBERS = frozenset({"count", "next", "previous"})

# What REST framework's encoder writes as an array.
LISTS = (list, tuple, set, frozenset, QuerySet, MappingView, Iterator)


def payload(outcome: Outcome) -> Any:
    """Return the view's value, without count and links if it is a paginator's page."""
    data = outcome.data
    if not is_page(outcome) or not isinstance(data, Mapping) or "results" not in data:
        return data
    return {name: value for name, value in data.items() if name not in PAGE_MEMBERS}


def is_page(outcome: Outcome) -> bool:
    """Return whether the data is what a paginator made, and not a view's own envelope."""
    return outcome.pagination is not None and not outcome.pagination.own


def payload_schema(data_schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of `payload`, given that of the view's value."""
    properties = data_schema.get("properties", {})
    if "results" not in properties:
        return data_schema
    return {
        **data_schema,
        "properties": {name: properties[name] for name in properties if name not in PAGE_MEMBERS},
        "required": [name for name in data_schema.get("required", []) if name not in PAGE_MEMBERS],
    }


def as_object(value: Any) -> Mapping[str, Any]:
    """Return a value as an object: a list as ``results``, a scalar as ``result``."""
    if isinstance(value, Mapping):
        return value
    if value is None:
        return {}
    return {"results" if isinstance(value, LISTS) else "result": value}


def as_object_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of `as_object`, given that of the value; open if not known."""
    kinds = types(schema)
    if kinds == {"object"}:
        return {**schema, "type": "object"}
    if kinds == {"array"}:
        return {"type": "object", "properties": {"results": {**schema, "type": "array"}}}
    if kinds and kinds.isdisjoint({"object", "array"}):
        return {"type": "object", "properties": {"result": schema}}
    return {"type": "object"}


def types(schema: dict[str, Any]) -> set[str]:
    """Return the JSON types that a schema names, null left out."""
    named = schema.get("type", [])
    return {named} - {"null"} if isinstance(named, str) else set(named) - {"null"}
