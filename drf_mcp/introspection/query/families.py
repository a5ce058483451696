"""Filters of one field that compare in several ways, such as ``owner`` and ``owner__in``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.introspection.types import Parameter, Parameters, Schema


class FilterFamilies:
    # What the filter of the bare name says of itself, the others of its family need not repeat.

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.filters = {each.name: each for each in parameters if each.role == "filter"}

    def without_repeated_words(self) -> Parameters:
        return tuple(map(self.shorten, self.parameters))

    def shorten(self, parameter: Parameter) -> Parameter:
        first = self.find_first(parameter.name) if parameter.role == "filter" else None
        if first is None:
            return parameter
        return replace(parameter, schema=leave_out(parameter.schema, first.schema))

    def find_first(self, name: str) -> Parameter | None:
        while "__" in name:
            name = name.rpartition("__")[0]
            if name in self.filters:
                return self.filters[name]
        return None


def leave_out(schema: Schema, said: Mapping[str, object]) -> Schema:
    # The description that both have, and that of the items of both.
    left = FieldSchema.of(schema)
    if left.get("description") == said.get("description"):
        left = FieldSchema({k: v for k, v in left.items() if k != "description"}, left.meaning)
    items, others = left.get("items"), said.get("items")
    if isinstance(items, dict) and isinstance(others, dict):
        left = left | {"items": leave_out(items, others)}
    return left
