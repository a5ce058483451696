from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from rest_framework.utils.formatting import remove_trailing_string

from drf_mcp.browsable.parts import PagePart
from drf_mcp.protocol import select_by_headers
from drf_mcp.protocol.constants import PROTOCOL_VERSION_HEADER, STATELESS_REVISION
from drf_mcp.tools.arguments.call import Argument
from drf_mcp.tools.tool import Tool
from drf_mcp.truncation.tokens import estimate_tokens

SUFFIXES = ("ViewSet", "APIView", "View")
WORD_ENDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
ERA = select_by_headers({PROTOCOL_VERSION_HEADER: STATELESS_REVISION})
LITERAL = re.compile(r"(`{1,2})([^`]+)\1")


@dataclass(frozen=True, eq=False)
class ToolCard:
    tool: Tool
    # The ToolsCapability that lists and calls the tool.
    capability: Any
    parts: Sequence[PagePart] = ()

    @property
    def envelope(self) -> str:
        return type(self.capability.get_envelope(self.tool)).__name__

    @property
    def view(self) -> str:
        view_class = self.tool.endpoint.view_class
        return f"{view_class.__module__}.{view_class.__name__}"

    @property
    def group(self) -> str:
        # As REST framework writes names of views.
        name = self.tool.endpoint.view_class.__name__
        for suffix in SUFFIXES:
            name = remove_trailing_string(name, suffix)
        return capfirst(WORD_ENDS.sub(" ", name).replace("_", " ").strip())

    @functools.cached_property
    def paragraphs(self) -> list[SafeString]:
        # Without the title, with which a description may begin.
        description = self.tool.description.removeprefix(f"{self.tool.title}. ")
        paragraphs = (part for part in description.split("\n\n") if part.strip(" ."))
        # Text between backquotes is code.
        return [
            # Escaped before anything is put around it.
            mark_safe(  # nosec B308 B703
                LITERAL.sub(r"<code>\2</code>", escape(" ".join(paragraph.split())))
            )
            for paragraph in paragraphs
        ]

    @property
    def summary(self) -> SafeString:
        return self.paragraphs[0] if self.paragraphs else SafeString("")

    @property
    def hints(self) -> list[tuple[str, bool]]:
        return list(self.tool.annotations.items())

    @property
    def audience(self) -> str:
        return "; ".join(filter(None, (part.get_audience(self.tool) for part in self.parts)))

    @property
    def chips(self) -> list[tuple[str, str]]:
        hints = self.tool.annotations
        if hints["readOnlyHint"]:
            chips = [("read", _("reads"))]
        elif hints["destructiveHint"]:
            chips = [("destroy", _("destructive"))]
        else:
            chips = [("write", _("adds"))]
        if hints["idempotentHint"] and not hints["readOnlyHint"]:
            chips.append(("plain", _("repeatable")))
        if hints["openWorldHint"]:
            chips.append(("plain", _("open world")))
        return chips

    @property
    def arguments(self) -> int:
        return len(self.tool.input_schema.get("properties", {}))

    @functools.cached_property
    def definition(self) -> bytes:
        # As `tools/list` sends it.
        definition: bytes = self.capability.get_definition(self.tool, ERA)
        return definition

    @property
    def size(self) -> int:
        return len(self.definition)

    @property
    def tokens(self) -> int:
        return estimate_tokens(self.definition.decode())

    @property
    def input_schema(self) -> str:
        return self.indent(json.loads(self.definition)["inputSchema"])

    @property
    def output_schema(self) -> str:
        schema = json.loads(self.definition).get("outputSchema")
        return "" if schema is None else self.indent(schema)

    def indent(self, value: Any) -> str:
        return json.dumps(value, indent=2, ensure_ascii=False)

    @property
    def form(self) -> dict[str, Any]:
        """The data from which the page's script builds the form and the requests."""
        tool, hints = self.tool, self.tool.annotations
        bodies = tool.arguments.encoder
        return {
            "name": tool.name,
            "title": tool.title,
            "method": tool.endpoint.method,
            "schema": tool.input_schema,
            "mirrored": [[list(path), header] for path, header in tool.mirrored.items()],
            # The arguments that guards read, which the page fills in.
            "controls": {each.parameter.name: each.pointer for each in tool.arguments.controls},
            "reads": bool(hints["readOnlyHint"]),
            "confirm": bool(hints["destructiveHint"]) and not hints["readOnlyHint"],
            "bodyType": bodies.content_type.partition(";")[0],
            "bodyExpected": bodies.expected,
            "arguments": [
                self.get_request_part(argument)
                for argument in tool.arguments.arguments
                if argument.listed
            ],
        }

    def get_request_part(self, argument: Argument) -> dict[str, Any]:
        parameter = argument.parameter
        return {
            "pointer": argument.pointer,
            "location": argument.location,
            "name": parameter.name,
            "whole": argument.whole,
            "comma": parameter.multiple == "comma",
            "upload": () in parameter.handling.uploads,
        }
