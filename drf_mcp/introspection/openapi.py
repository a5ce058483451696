"""OpenAPI's own forms: parameters as objects, and the schemas of its version 3.0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_mcp.introspection.field_schema import FieldSchema, explain
from drf_mcp.introspection.inspection import CURRENT
from drf_mcp.introspection.text import clean_text
from drf_mcp.introspection.types import Parameter, Parameters, Schema

# Older declarations have these next to the name and not in a schema.
INLINE = ("type", "enum", "items", "format", "default", "minimum", "maximum", "pattern")
# Keywords that JSON Schema does not know, or that say nothing of input.
ANNOTATIONS = frozenset(
    {"nullable", "readOnly", "discriminator", "xml", "externalDocs", "example", "deprecated"}
)
NESTED = ("items", "additionalProperties", "not")
COMBINED = ("allOf", "anyOf", "oneOf")


def find_declared_parameters(source: Any, view: Any) -> Parameters:
    # An extension of drf-spectacular that speaks for the source is asked instead.
    annotations = CURRENT.get()
    declared = annotations.filter_parameters(source) if annotations is not None else None
    if declared is None:
        declare = getattr(source, "get_schema_operation_parameters", None)
        declared = () if declare is None else declare(view)
    in_query = (each for each in declared if each.get("in", "query") == "query")
    return tuple(map(read_openapi_parameter, in_query))


def read_openapi_parameter(declared: Mapping[str, Any]) -> Parameter:
    inline = {name: declared[name] for name in INLINE if name in declared}
    schema: Schema = declared.get("schema") or inline
    description = clean_text(declared.get("description")) or clean_text(schema.get("description"))
    bare = {name: value for name, value in schema.items() if name != "description"}
    # Example Objects and the value itself, as OpenAPI has them next to a schema.
    named = declared.get("examples") or {}
    objects = named.values() if isinstance(named, Mapping) else ()
    examples = [e["value"] for e in objects if isinstance(e, Mapping) and "value" in e]
    if "example" in declared:
        examples.append(declared["example"])
    # OpenAPI repeats the key of an array by default.
    multiple = "comma" if declared.get("explode") is False else "repeat"
    return Parameter(
        name=str(declared["name"]),
        schema=explain(
            FieldSchema(bare).with_example(examples[0]) if examples else bare, description
        ),
        required=bool(declared.get("required")),
        multiple=multiple if schema.get("type") == "array" else None,
    )


def to_json_schema(schema: Any) -> Schema:
    """Return a schema of OpenAPI 3.0 as JSON Schema, without members that are read-only."""
    schema = schema if isinstance(schema, dict) else {}
    made: Schema = {
        name: value
        for name, value in schema.items()
        if name not in ANNOTATIONS and not name.startswith("x-")
    }
    for flag, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        # OpenAPI 3.0 has the bound and a flag.
        if isinstance(made.get(flag), bool) and made.pop(flag) and bound in made:
            made[flag] = made.pop(bound)
    for name in COMBINED:
        if isinstance(made.get(name), list):
            made[name] = list(map(to_json_schema, made[name]))
    for name in NESTED:
        if isinstance(made.get(name), dict):
            made[name] = to_json_schema(made[name])
    if isinstance(made.get("properties"), dict):
        made["properties"] = {
            name: to_json_schema(member)
            for name, member in made["properties"].items()
            if not (isinstance(member, dict) and member.get("readOnly") is True)
        }
        required = made.pop("required", None) or ()
        if required := [name for name in required if name in made["properties"]]:
            made["required"] = required
    if schema.get("nullable") is not True:
        return made
    if "enum" in made and None not in made["enum"]:
        made["enum"] = [*made["enum"], None]
    if isinstance(made.get("type"), str):
        made["type"] = [made["type"], "null"]
    elif any(name in made for name in COMBINED):
        words = {"description": made.pop("description")} if "description" in made else {}
        return {**words, "anyOf": [made, {"type": "null"}]}
    return made
