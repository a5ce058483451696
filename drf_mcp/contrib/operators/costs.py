"""What the definitions of tools cost a model to read, in estimated tokens, part by part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from django.utils.translation import gettext_noop

from drf_mcp.dispatch.encoding import encode_data
from drf_mcp.json_text import encode_plain, to_bytes
from drf_mcp.settings import override_language
from drf_mcp.tools.definitions import (
    choose_envelope_class,
    get_output_schema,
    make_envelope,
)
from drf_mcp.tools.tool import Tool
from drf_mcp.truncation.tokens import estimate_tokens

# The parts of a tool that are shown.
LARGEST = 3
DESCRIPTION, OTHERS = gettext_noop("description"), gettext_noop("title and hints")
OUTPUT = "outputSchema"


@dataclass(frozen=True)
class Part:
    # In English, or the name of an argument.
    name: str
    tokens: int


class ToolCost:
    """The tokens and bytes of one tool's definition, as clients of the current revision get it."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool

    @cached_property
    @override_language()
    def text(self) -> str:
        envelope = make_envelope(choose_envelope_class(self.tool))
        return encode_data(self.tool.definition(get_output_schema(self.tool, envelope)))

    @cached_property
    def definition(self) -> dict[str, Any]:
        definition: dict[str, Any] = json.loads(self.text)
        return definition

    @cached_property
    def bytes(self) -> int:
        return len(to_bytes(self.text))

    @cached_property
    def tokens(self) -> int:
        return estimate_tokens(self.text)

    @cached_property
    def parts(self) -> list[Part]:
        """The parts of the definition, the most expensive first."""
        definition = dict(self.definition)
        parts = [Part(DESCRIPTION, self.count(definition.pop("description", "")))]
        for name, schema in definition.pop("inputSchema", {}).get("properties", {}).items():
            parts.append(Part(f"`{name}`", self.count({name: schema})))
        if OUTPUT in definition:
            parts.append(Part(OUTPUT, self.count(definition.pop(OUTPUT))))
        parts.append(Part(OTHERS, self.count(definition)))
        return sorted(parts, key=lambda part: -part.tokens)

    @property
    def output(self) -> int:
        return next((part.tokens for part in self.parts if part.name == OUTPUT), 0)

    def count(self, value: Any) -> int:
        return estimate_tokens(encode_plain(value))

    @property
    def largest(self) -> list[Part]:
        return self.parts[:LARGEST]

    def as_data(self) -> dict[str, Any]:
        parts = [asdict(part) for part in self.largest]
        return {
            "tool": self.tool.name,
            "bytes": self.bytes,
            "tokens": self.tokens,
            "parts": parts,
        }


def measure_tools(tools: Mapping[str, Tool]) -> list[ToolCost]:
    """Return the costs of tools, the most expensive first."""
    costs = [ToolCost(tool) for tool in tools.values()]
    return sorted(costs, key=lambda cost: (-cost.tokens, cost.tool.name))
