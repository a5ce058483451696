"""What of a declared schema holds for a shortened answer too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Broken by rows that are left out or left alike, by members that are left out, or by a
# digest in place of a text; and what would turn round once a part of it is gone.
BROKEN = frozenset(
    {
        "required",
        "dependentRequired",
        "minProperties",
        "minItems",
        "uniqueItems",
        "contains",
        "minContains",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "not",
        "if",
        "then",
        "else",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
SCHEMAS_BY_NAME = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)
# Their parts are no schemas.
VALUES = frozenset({"enum", "const", "default", "examples"})


def relax_schema(schema: Any) -> Any:
    """Return a schema without the keywords that a shortened answer may break.

    Args:
        schema: a JSON Schema, or a list of them.
    """
    if isinstance(schema, list):
        return [relax_schema(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept = {
        keyword: relax_keyword(keyword, value)
        for keyword, value in schema.items()
        if keyword not in BROKEN
    }
    # Without these keywords several of the choices may hold at once.
    if "oneOf" in kept:
        kept["allOf"] = [*kept.get("allOf", ()), {"anyOf": kept.pop("oneOf")}]
    return kept


def relax_keyword(keyword: str, value: Any) -> Any:
    """Return what a keyword may still say."""
    if keyword in VALUES:
        return value
    if keyword in SCHEMAS_BY_NAME and isinstance(value, Mapping):
        return {name: relax_schema(schema) for name, schema in value.items()}
    return relax_schema(value)
