"""Makes declared schemas hold for shortened answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# A shortened answer lacks rows and members, repeats reduced rows, and has digests for texts; the
# negated keywords would turn round where a part of them is gone.
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
# Keywords whose values are no schemas.
VALUES = frozenset({"enum", "const", "default", "examples"})


def relax_schema(schema: Any) -> Any:
    """Return a JSON Schema, or a list of them, without what a shortened answer may break."""
    if isinstance(schema, list):
        return [relax_schema(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in VALUES:
            kept[keyword] = value
        elif keyword in SCHEMAS_BY_NAME and isinstance(value, Mapping):
            kept[keyword] = {name: relax_schema(part) for name, part in value.items()}
        elif keyword not in BROKEN:
            kept[keyword] = relax_schema(value)
    # Several of the relaxed choices may hold at once.
    if "oneOf" in kept:
        kept["allOf"] = [*kept.get("allOf", ()), {"anyOf": kept.pop("oneOf")}]
    return kept
