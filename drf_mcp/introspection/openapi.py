"""OpenAPI's own forms: parameters as objects, and the schemas of its version 3.0."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from drf_mcp.introspection.annotations import CURRENT
from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.text import text
from drf_mcp.introspection.types import Parameter, Parameters, Schema

INLINE = ("type", "enum", "items", "format", "default", "minimum", "maximum", "pattern")
"""Members that older declarations put beside the name instead of into a schema."""


def declared_parameters(source: Any, view: Any) -> Parameters:
    """Return what `get_schema_operation_parameters` declares, none without that method.

    An extension of drf-spectacular that speaks for the source is asked instead.
    """
    annotations = CURRENT.get()
    extended = annotations.filter_parameters(source) if annotations is not None else None
    return own_parameters(source, view) if extended is None else in_query(extended)


def own_parameters(source: Any, view: Any) -> Parameters:
    """Return what a filter backend or paginator itself declares."""
    declare = getattr(source, "get_schema_operation_parameters", None)
    return () if declare is None else in_query(declare(view))


def in_query(declared: Iterable[Mapping[str, Any]]) -> Parameters:
    """Return those of some OpenAPI parameters that stand in the query."""
    return tuple(parameter(each) for each in declared if each.get("in", "query") == "query")


def parameter(declared: Mapping[str, Any]) -> Parameter:
    """Return an OpenAPI parameter object as our own."""
    schema: Schema = declared.get("schema") or {
        name: declared[name] for name in INLINE if name in declared
    }
    description = text(declared.get("description")) or text(schema.get("description"))
    bare = {name: value for name, value in schema.items() if name != "description"}
    return Parameter(
        name=str(declared["name"]),
        schema=explain(bare, description),
        required=bool(declared.get("required")),
        multiple=style(declared, schema),
    )


def style(declared: Mapping[str, Any], schema: Schema) -> str | None:
    """Return how an array is written; OpenAPI repeats the key unless told otherwise."""
    if schema.get("type") != "array":
        return None
    return "comma" if declared.get("explode") is False else "repeat"


ANNOTATIONS = frozenset(
    {"nullable", "readOnly", "discriminator", "xml", "externalDocs", "example", "deprecated"}
)
"""Members of OpenAPI 3.0 that JSON Schema does not know, or that say nothing of input."""

NESTED = ("items", "additionalProperties", "not")
COMBINED = ("allOf", "anyOf", "oneOf")


def converted(schema: Any) -> Schema:
    """Return a request's schema of OpenAPI 3.0, its references resolved, as JSON Schema 2020-12.

    ``nullable`` becomes the type null, flags beside bounds become exclusive bounds, and
    read-only members are left out.
    """
    if not isinstance(schema, dict):
        return {}
    plain = {name: value for name, value in schema.items() if not is_annotation(name)}
    plain = exclusive(plain, "exclusiveMinimum", "minimum")
    plain = exclusive(plain, "exclusiveMaximum", "maximum")
    for name in COMBINED:
        if isinstance(plain.get(name), list):
            plain[name] = [converted(member) for member in plain[name]]
    for name in NESTED:
        if isinstance(plain.get(name), dict):
            plain[name] = converted(plain[name])
    if isinstance(plain.get("properties"), dict):
        plain = with_members(plain)
    return null_allowed(plain) if schema.get("nullable") is True else plain


def is_annotation(name: str) -> bool:
    """Return True for a member that JSON Schema does not know."""
    return name in ANNOTATIONS or name.startswith("x-")


def exclusive(schema: Schema, flag: str, bound: str) -> Schema:
    """Write a bound with a flag as an exclusive bound."""
    if not isinstance(schema.get(flag), bool):
        return schema
    plain = {name: value for name, value in schema.items() if name != flag}
    if schema[flag] and bound in plain:
        plain[flag] = plain.pop(bound)
    return plain


def with_members(schema: Schema) -> Schema:
    """Convert the members of an object, those left out that nobody can send."""
    members = {
        name: converted(member)
        for name, member in schema["properties"].items()
        if not (isinstance(member, dict) and member.get("readOnly") is True)
    }
    required = [name for name in schema.get("required") or () if name in members]
    rest = {name: value for name, value in schema.items() if name != "required"}
    return {**rest, "properties": members, **({"required": required} if required else {})}


def null_allowed(schema: Schema) -> Schema:
    """Return a schema that takes null as well."""
    if "enum" in schema and None not in schema["enum"]:
        schema = {**schema, "enum": [*schema["enum"], None]}
    if isinstance(schema.get("type"), str):
        return {**schema, "type": [schema["type"], "null"]}
    for name in COMBINED:
        if name in schema:
            rest = {key: value for key, value in schema.items() if key != "description"}
            words = {key: value for key, value in schema.items() if key == "description"}
            return {**words, "anyOf": [rest, {"type": "null"}]}
    return schema
