"""A tool as the page shows it."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from rest_framework.utils.formatting import remove_trailing_string

from drf_mcp.operators.client_limits import CHARACTERS_PER_TOKEN
from drf_mcp.protocol import select_by_headers
from drf_mcp.protocol.constants import PROTOCOL_VERSION_HEADER, STATELESS_REVISION
from drf_mcp.tools import Tool
from drf_mcp.tools.capability import ToolsCapability

SUFFIXES = ("ViewSet", "APIView", "View")
WORD_ENDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
ERA = select_by_headers({PROTOCOL_VERSION_HEADER: STATELESS_REVISION})
LITERAL = re.compile(r"(`{1,2})([^`]+)\1")


@dataclass(frozen=True, eq=False)
class ToolCard:
    """What people see of one tool.

    Attributes:
        tool: the tool.
        capability: what lists and calls it.
    """

    tool: Tool
    capability: ToolsCapability

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.tool.name

    @property
    def title(self) -> str:
        """The name for people."""
        return self.tool.title

    @property
    def envelope(self) -> str:
        """The name of the class that shapes its results."""
        return type(self.capability.get_envelope(self.tool)).__name__

    @property
    def method(self) -> str:
        """The HTTP method of its endpoint."""
        return self.tool.endpoint.method

    @property
    def path(self) -> str:
        """The path of its endpoint, such as ``/api/orders/{pk}/refund/``."""
        return self.tool.endpoint.route.path

    @property
    def place(self) -> str:
        """Where its code stands."""
        return self.tool.endpoint.place

    @property
    def view(self) -> str:
        """The class behind it."""
        view_class = self.tool.endpoint.view_class
        return f"{view_class.__module__}.{view_class.__name__}"

    @property
    def group(self) -> str:
        """What its view is about, in REST framework's way of naming views."""
        name = self.tool.endpoint.view_class.__name__
        for suffix in SUFFIXES:
            name = remove_trailing_string(name, suffix)
        return capfirst(WORD_ENDS.sub(" ", name).replace("_", " ").strip())

    @functools.cached_property
    def paragraphs(self) -> list[SafeString]:
        """The description without the title that it may begin with, as HTML."""
        told = self.tool.description.removeprefix(f"{self.title}. ")
        return [with_literals(part) for part in told.split("\n\n") if part.strip(" .")]

    @property
    def summary(self) -> SafeString:
        """The first paragraph of the description, as HTML."""
        return self.paragraphs[0] if self.paragraphs else SafeString()

    @property
    def hints(self) -> list[tuple[str, bool]]:
        """The four hints of the specification's ToolAnnotations."""
        return [(name, on) for name, on in self.tool.annotations.items() if name != "title"]

    @property
    def chips(self) -> list[tuple[str, str]]:
        """What a call may do, as (style, words)."""
        hints = self.tool.annotations
        if hints["readOnlyHint"]:
            chips = [("read", "reads")]
        elif hints["destructiveHint"]:
            chips = [("destroy", "destructive")]
        else:
            chips = [("write", "adds")]
        if hints["idempotentHint"] and not hints["readOnlyHint"]:
            chips.append(("plain", "repeatable"))
        if hints["openWorldHint"]:
            chips.append(("plain", "open world"))
        return chips

    @property
    def arguments(self) -> int:
        """How many arguments it takes."""
        return len(self.tool.input_schema.get("properties", {}))

    @functools.cached_property
    def definition(self) -> bytes:
        """The definition that ``tools/list`` sends."""
        return self.capability.get_definition(self.tool, ERA)

    @property
    def size(self) -> int:
        """The bytes of the definition, which every conversation carries."""
        return len(self.definition)

    @property
    def tokens(self) -> int:
        """About how many tokens the definition comes to."""
        return round(self.size / CHARACTERS_PER_TOKEN)

    @property
    def input_schema(self) -> str:
        """The schema of the arguments, to read."""
        return pretty(json.loads(self.definition)["inputSchema"])

    @property
    def output_schema(self) -> str:
        """The schema of results, to read; "" if there is none."""
        schema = json.loads(self.definition).get("outputSchema")
        return "" if schema is None else pretty(schema)


def with_literals(text: str) -> SafeString:
    """Return text as HTML, what stands between backquotes as code."""
    return mark_safe(LITERAL.sub(r"<code>\2</code>", escape(" ".join(text.split()))))


def pretty(value: Any) -> str:
    """Return JSON for reading."""
    return json.dumps(value, indent=2, ensure_ascii=False)
