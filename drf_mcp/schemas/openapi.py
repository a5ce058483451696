"""Query parameters that a filter backend or a paginator declares in OpenAPI's form."""

from __future__ import annotations

from typing import Any

from drf_mcp.schemas.values import Parameter, Parameters, Schema
from drf_mcp.schemas.words import explain, text

INLINE = ("type", "enum", "items", "format", "default", "minimum", "maximum", "pattern")
"""Members that older declarations put beside the name instead of into a schema."""


def declared_parameters(source: Any, view: Any) -> Parameters:
    """Return what `get_schema_operation_parameters` declares, none without that method."""
    declare = getattr(source, "get_schema_operation_parameters", None)
    if declare is None:
        return ()
    return tuple(
        parameter(declared) for declared in declare(view) if declared.get("in", "query") == "query"
    )


def parameter(declared: dict[str, Any]) -> Parameter:
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


def style(declared: dict[str, Any], schema: Schema) -> str | None:
    """Return how an array is written; OpenAPI repeats the key unless told otherwise."""
    if schema.get("type") != "array":
        return None
    return "comma" if declared.get("explode") is False else "repeat"
