"""A tool as the page shows it, with its form."""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from rest_framework.utils.formatting import remove_trailing_string

from drf_mcp.arguments.call import PATH, Argument
from drf_mcp.browsable.frame import PagePart
from drf_mcp.exceptions import attempt
from drf_mcp.introspection.field_schema import DECIMAL, FieldSchema
from drf_mcp.introspection.types import ANY, NO_INFO, Place
from drf_mcp.introspection.value_info import find_value_info
from drf_mcp.json_text import JSONPointer
from drf_mcp.protocol import ERAS
from drf_mcp.protocol.constants import STATELESS_REVISION
from drf_mcp.routes.tool import Tool
from drf_mcp.truncation.tokens import estimate_tokens

SUFFIXES = ("ViewSet", "APIView", "View")
WORD_ENDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
ERA = ERAS[STATELESS_REVISION]
LITERAL = re.compile(r"(`{1,2})([^`]+)\1")

Facts = dict[str, Any]


@dataclass(frozen=True, eq=False)
class ToolCard:
    """What the page shows of a tool.

    Attributes:
        capability: the `ToolsCapability` that lists and calls the tool.
    """

    tool: Tool
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
        # As REST framework makes the name of a view.
        name = self.tool.endpoint.view_class.__name__
        for suffix in SUFFIXES:
            name = remove_trailing_string(name, suffix)
        return capfirst(WORD_ENDS.sub(" ", name).replace("_", " ").strip())

    @functools.cached_property
    def paragraphs(self) -> list[SafeString]:
        # A description may begin with the title.
        description = self.tool.description.removeprefix(f"{self.tool.title}. ")
        paragraphs = (part for part in description.split("\n\n") if part.strip(" ."))
        # Text between backquotes is code.
        return [
            # The text is escaped before the tags are put around it.
            mark_safe(  # nosec B308 B703
                LITERAL.sub(r"<code>\2</code>", escape(" ".join(paragraph.split())))
            )
            for paragraph in paragraphs
        ]

    @property
    def summary(self) -> SafeString:
        return self.paragraphs[0] if self.paragraphs else SafeString("")

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
    def schemas(self) -> dict[str, str]:
        members = json.loads(self.definition)
        names = members.keys() & {"inputSchema", "outputSchema"}
        return {n: json.dumps(members[n], indent=2, ensure_ascii=False) for n in names}

    @property
    def form(self) -> dict[str, Any]:
        """The data from which the page's script builds the form and the requests."""
        tool, hints = self.tool, self.tool.annotations
        bodies = tool.arguments.encoder
        return {
            "name": tool.name,
            "method": tool.endpoint.method,
            "schema": tool.input_schema,
            "mirrored": [[list(path), header] for path, header in tool.header_parameters.items()],
            # The arguments for guards, such as ``confirmation``, which the page fills in.
            "controls": {each.parameter.name: each.pointer for each in tool.arguments.controls},
            "reads": bool(hints["readOnlyHint"]),
            "confirm": bool(hints["destructiveHint"]) and not hints["readOnlyHint"],
            "bodyType": bodies.content_type.partition(";")[0],
            "bodyExpected": bodies.expected,
            "arguments": [
                {
                    "pointer": argument.pointer,
                    "location": argument.location,
                    "name": argument.parameter.name,
                    "whole": argument.whole,
                    "comma": argument.parameter.multiple == "comma",
                    "upload": () in argument.uploads,
                }
                for argument in tool.arguments.arguments
                if argument.listed
            ],
        }


def find_field_facts(tool: Tool, tools: Mapping[str, Tool]) -> dict[str, Facts]:
    """Return what the form needs of each argument besides its schema, by pointer.

    Args:
        tools: the tools that the caller sees, by name; one may find the objects of an argument.
    """

    def walk(
        argument: Argument, schema: Any, place: Place, finder: str = ""
    ) -> Iterator[tuple[str, Facts]]:
        known = FieldSchema.of(schema)
        # The schema of a list of keys may name the finder.
        finder = known.meaning.finder or finder
        info = argument.parameter.value_info.get(place, NO_INFO)
        facts = {
            "location": argument.location,
            "format": known.format_name,
            "decimal": known.kind is not None and known.kind.words == DECIMAL.words,
            # A portable schema has no type null.
            "null": info.form == "null",
            "upload": info.upload is not None,
            "image": info.upload is not None and info.upload.image,
            "secret": info.is_secret,
            "example": None if place else tool.hints.find_value(argument.pointer),
            "finder": _describe_finder(tool, tools, argument, place, finder),
        }
        # A star is any item of a list.
        pointer = argument.pointer + "".join(f"/{JSONPointer.escape(name)}" for name in place)
        yield pointer, {name: fact for name, fact in facts.items() if fact not in (None, "", False)}
        for name, member in known.get("properties", {}).items():
            yield from walk(argument, member, (*place, name))
        if "items" in known:
            yield from walk(argument, known["items"], (*place, ANY), finder)

    listed = (argument for argument in tool.arguments.arguments if argument.listed)
    return dict(pair for each in listed for pair in walk(each, each.parameter.schema, ()))


def find_links(tool: Tool, tools: Mapping[str, Tool]) -> dict[str, Facts]:
    """Return the tools that read the objects in an answer, by the place of the key in a row."""
    endpoint = tool.endpoint
    links: dict[str, Facts] = {}
    reading = {
        each.endpoint.collection: each
        for each in tools.values()
        if each.endpoint.standard_action == "retrieve" and len(each.endpoint.route.kwargs) == 1
    }

    def link(place: Place, other: Tool, key: str) -> None:
        model = other.endpoint.model
        names = {"pk", model._meta.pk.name if model is not None else "pk"}
        lookup = getattr(other.endpoint.view_class, "lookup_field", "pk")
        argument = next(a.pointer for a in other.arguments.arguments if a.location == PATH)
        if key == lookup or {key, lookup} <= names:
            pointer = "".join(f"/{JSONPointer.escape(name)}" for name in place)
            links.setdefault(pointer, {"tool": other.name, "argument": argument})

    if (own := reading.get(endpoint.collection)) and own is not tool and own.endpoint.model:
        lookup = getattr(own.endpoint.view_class, "lookup_field", "pk")
        link((own.endpoint.model._meta.pk.name if lookup == "pk" else lookup,), own, lookup)
    if not endpoint.standard_action:
        return links
    serializer: Any = attempt(lambda: endpoint.introspected_view().get_serializer(), None)  # type: ignore[attr-defined]
    known = {} if serializer is None else find_value_info(serializer, takes_json=True)
    relations = [(place, info.relation) for place, info in known.items() if info.relation]
    for (place, relation), other in itertools.product(relations, reading.values()):
        if other.endpoint.model is relation.model:
            link(place, other, relation.key)
    return links


def _describe_finder(
    tool: Tool, tools: Mapping[str, Tool], argument: Argument, place: Place, name: str
) -> Facts | None:
    if argument.location == PATH and place in ((), (ANY,)):
        before = tool.endpoint.route.path.partition(f"{{{argument.parameter.name}}}")[0]
        name = tool.related.by_path.get(before.rstrip("/"), name)
    finder = tools.get(name)
    if finder is None:
        return None
    relation = argument.parameter.value_info.get(place, NO_INFO).relation
    key = relation.key if relation else getattr(finder.endpoint.view_class, "lookup_field", "")
    model = finder.endpoint.model
    arguments = finder.arguments.arguments
    return {
        "tool": name,
        "key": model._meta.pk.name if model is not None and key in ("", "pk") else key,
        "search": next((a.pointer for a in arguments if a.parameter.role == "search"), ""),
        # The path arguments of the list that the form has too.
        "given": [
            [theirs.pointer, own.pointer]
            for theirs in arguments
            for own in tool.arguments.arguments
            if theirs.name == own.name and theirs.location == own.location == PATH
        ],
        "mirrored": [[list(path), header] for path, header in finder.header_parameters.items()],
    }
