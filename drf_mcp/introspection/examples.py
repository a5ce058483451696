"""Arguments of the right kind, made from an input schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from drf_mcp.introspection.field_schema import FieldSchema

MAX_REPEATED = 12


def make_example_arguments(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    required = schema.get("required", ())
    return {name: DeclaredExample(properties.get(name, {}), name).value for name in required}


class DeclaredExample:
    def __init__(self, schema: Any, name: str = "") -> None:
        self.schema = FieldSchema.of(schema)
        self.name = name

    @property
    def value(self) -> Any:
        schema = self.schema
        if schema.meaning.examples:
            return schema.meaning.examples[0]
        if schema.meaning.choices:
            return schema.meaning.choices[0][0]
        for keyword in ("default", "const"):
            if keyword in schema:
                return schema[keyword]
        for keyword in ("examples", "enum"):
            if schema.get(keyword):
                return schema[keyword][0]
        match schema.types[:1]:
            case ["integer" | "number"]:
                return self.number
            case ["string"]:
                return self.text
            case ["boolean"]:
                return True
            case ["array"]:
                item = DeclaredExample(schema.get("items", {}), self.name).value
                return [item] * max(schema.get("minItems", 1), 1)
            case ["object"]:
                return make_example_arguments(schema)
        return "..."

    @property
    def number(self) -> Any:
        least, most = self.schema.get("minimum"), self.schema.get("maximum")
        if least is not None and least > 1:
            return least
        return most if most is not None and most < 1 else 1

    @property
    def text(self) -> str:
        schema, kind = self.schema, self.schema.kind
        if kind is not None and kind.example:
            return kind.example
        if "email" in self.name:
            return "name@example.com"
        value = "text".ljust(schema.get("minLength", 0), "x")
        value = value[: schema.get("maxLength", len(value))]
        if "pattern" not in schema:
            return value
        # A simple pattern takes a run of one character; of another pattern the word will do.
        runs = [letter * length for length in range(1, MAX_REPEATED + 1) for letter in "aA1"]
        return next((text for text in (value, *runs) if re.search(schema["pattern"], text)), value)
