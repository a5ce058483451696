"""Schemas in the words of descriptions and error messages."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.introspection.text import join_values

ARTICLES = {"array": "an", "integer": "an", "object": "an"}
MOST_CHOICES, MOST_NEAREST = 20, 5


class SchemaWords:
    # near: a value that was refused; of many choices those like it are told.
    def __init__(self, schema: Any, near: Any = None) -> None:
        self.schema = FieldSchema.of(schema)
        self.near = near

    @property
    def accepted(self) -> str | None:
        if self.schema.meaning.choices:
            return f"one of {join_values(self.nearest)}, …"
        choices = self.schema.get("enum")
        if choices:
            shown = join_values(choices[:MOST_CHOICES])
            return f"one of {shown}" + (", …" if len(choices) > MOST_CHOICES else "")
        if not self.schema.types:
            return None
        kind = self.schema.types[0]
        if kind == "array":
            inner = SchemaWords(self.schema.get("items"), self.near).accepted
            return f"an array, each item {inner}" if inner else "an array"
        return " ".join(self.phrases(kind))

    @property
    def nearest(self) -> list[str]:
        # By value or by label: people know a country's name, and few its code.
        choices = self.schema.meaning.choices
        spelled = {text.casefold(): pair for pair in choices for text in map(str, pair) if text}
        values = self.near if isinstance(self.near, list) else [self.near]
        alike = [
            spelled[text]
            for value in values
            for text in get_close_matches(str(value).casefold(), spelled, MOST_NEAREST)
        ]
        shown = dict.fromkeys(alike or choices[:MOST_NEAREST])
        return [
            f"{value} = {label}" if label not in ("", str(value)) else str(value)
            for value, label in shown
        ]

    def phrases(self, json_type: str) -> list[str]:
        name = self.kind_name if json_type in ("string", "number") else ""
        finder = self.schema.meaning.finder
        return [
            name or f"{ARTICLES.get(json_type, 'a')} {json_type}",
            *self.span("minimum", "maximum", ""),
            # What has a kind of its own is never empty.
            *self.span("" if name else "minLength", "maxLength", " characters"),
            *([f"matching {self.schema['pattern']}"] if self.has_own_pattern else ()),
            *([f"that {finder} gives"] if finder else ()),
        ]

    @property
    def has_own_pattern(self) -> bool:
        # The words of a kind say what its pattern says.
        kind = self.schema.kind
        return "pattern" in self.schema and (kind is None or kind.pattern != self.schema["pattern"])

    @property
    def kind_name(self) -> str:
        kind, limits = self.schema.kind, self.schema.meaning.limits
        if kind is None or not limits:
            return kind.words if kind else ""
        words, bracket, inside = kind.words.removesuffix(")").partition(" (")
        return f"{words} ({join_values([inside, *limits] if bracket else limits)})"

    def span(self, least: str, most: str, unit: str) -> list[str]:
        low, high = self.schema.get(least), self.schema.get(most)
        if low is not None and high is not None:
            return [f"from {low} to {high}{unit}"]
        bound = high if low is None else low
        unit = unit.removesuffix("s") if bound == 1 else unit
        if low is not None:
            return [f"of at least {low}{unit}"]
        return [] if high is None else [f"of at most {high}{unit}"]

    @property
    def intention(self) -> str:
        if self.schema.get("type") == "array":
            inner = SchemaWords(self.schema.get("items")).intention
            return f"an array, each item {inner}" if inner else "an array"
        names = join_values(self.schema.get("properties", ()))
        if names:
            return f"an object with {names}"
        return self.accepted or self.schema.meaning.intention

    @property
    def type_name(self) -> str:
        if self.schema.get("enum"):
            return f"one of {join_values(self.schema['enum'])}"
        kind = self.schema.get("type") or "any value"
        if kind == "array" and self.schema.get("items"):
            return f"array of {SchemaWords(self.schema['items']).type_name}"
        return " or ".join(kind) if isinstance(kind, list) else str(kind)

    @property
    def type_name_with_members(self) -> str:
        is_object = self.schema.get("type") == "object"
        names = join_values(self.schema.get("properties") or ()) if is_object else ""
        return f"object with {names}" if names else self.type_name
