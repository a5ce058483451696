"""The signature of a tool, and the instructions of a server."""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from rest_framework.mixins import DestroyModelMixin

from drf_mcp.json_text import encode_plain
from drf_mcp.outcomes import PAGE_MEMBERS
from drf_mcp.routes.tool import Tool
from drf_mcp.truncation import RETRIEVAL_TOOL

NAMES = {
    "array": "list",
    "boolean": "bool",
    "integer": "int",
    "null": "None",
    "number": "float",
    "object": "dict",
    "string": "str",
}
# Texts that have a type of their own, by their format; a date may have its pattern alone.
FORMATS = {
    **{"date-time": "datetime", "date": "date", "time": "time", "uuid": "uuid", "email": "email"},
    r"^\d{4}-\d\d-\d\d$": "date",
}
UNKNOWN = "Any"
# Clients cut longer instructions.
MAX_INSTRUCTIONS = 2048
# The most levels of objects that are written out, and the most choices of a value.
MAX_DEPTH, MAX_CHOICES = 3, 12


class Signature:
    """A tool written as a function: ``orders_list(status: str = None) -> [{id: int}]``."""

    unknown = UNKNOWN

    def __init__(self, tool: Tool) -> None:
        self.tool = tool

    def write(self) -> str:
        return f"{self.tool.name}({self.get_arguments()}) -> {self.make_answer()}"

    def find_arguments(self) -> Mapping[str, Any]:
        """Return the schemas of the arguments that are shown."""
        properties: Mapping[str, Any] = self.tool.known_schema.get("properties", {})
        return properties

    def get_arguments(self) -> str:
        # Required arguments come first, as in a function.
        required, found = self.tool.known_schema.get("required", ()), self.find_arguments()
        return ", ".join(
            f"{self.name_argument(name)}: {self.write_argument(name, found[name])}"
            f"{'' if name in required else ' = None'}"
            for name in sorted(found, key=lambda each: each not in required)
        )

    def write_argument(self, name: str, schema: Any) -> str:
        """Return the type of the values that an argument takes."""
        return write_type(schema)

    def name_argument(self, name: str) -> str:
        return f"{name}_" if keyword.iskeyword(name) else name

    def make_answer(self) -> str:
        if self.tool.endpoint.handler is DestroyModelMixin.destroy:
            return NAMES["null"]
        # Most fields may be null; to say it of each would be half of the text.
        return write_type(self.find_output()).replace(" | None", "")

    def find_output(self) -> Any:
        """Return the schema of the data, or of the rows of a page."""
        own = self.tool.options.output_schema
        schema = own if isinstance(own, Mapping) else self.tool.schema.output
        properties = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
        if "results" in properties and not properties.keys() - PAGE_MEMBERS - {"results"}:
            return properties["results"]
        # A call for several items is answered with a list.
        items = self.tool.arguments.items
        is_several = items is not None and items.name in self.tool.input_schema.get("required", ())
        return {"type": "array", "items": schema} if is_several else schema


def write_type(schema: Any, depth: int = 0) -> str:
    if not isinstance(schema, Mapping) or not schema:
        return UNKNOWN
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(choices, list) and 0 < len(choices) <= MAX_CHOICES:
        return " | ".join("None" if each is None else encode_plain(each) for each in choices)
    branches = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(branches, list) and branches:
        return " | ".join(dict.fromkeys(write_type(branch, depth) for branch in branches))
    types = schema.get("type") or ("object" if "properties" in schema else [])
    names = types if isinstance(types, list) else [types]
    return " | ".join(_write_one(name, schema, depth) for name in names) or UNKNOWN


def _write_one(name: Any, schema: Mapping[str, Any], depth: int) -> str:
    if name == "array" and isinstance(schema.get("items"), Mapping):
        return f"[{write_type(schema['items'], depth)}]"
    if form := FORMATS.get(str(schema.get("format") or schema.get("pattern"))):
        return form
    properties = schema.get("properties")
    if name == "object" and isinstance(properties, Mapping) and properties and depth < MAX_DEPTH:
        members = (f"{each}: {write_type(properties[each], depth + 1)}" for each in properties)
        return f"{{{', '.join(members)}}}"
    return NAMES.get(str(name), UNKNOWN)


def write_instructions(tools: Iterable[Tool], hints: Iterable[str] = ()) -> str:
    """Return the instructions for tools that a caller sees, "" without a tool, not introspected.

    They have nouns, as many as 2,048 characters hold, and hints. The actions of each noun are in
    the list, or in an answer of a search.

    Args:
        hints: sentences before the hints about several tools.
    """
    tools = [*tools]
    # The actions of each noun; a tool without an action in its name is a noun.
    groups: dict[str, list[str]] = {}
    for tool in tools:
        if tool.name != RETRIEVAL_TOOL:
            action = tool.endpoint.standard_action
            noun = tool.name.removesuffix(f"_{action}")
            groups.setdefault(noun, []).extend([action] if action and noun != tool.name else [])
    if not groups:
        return ""
    said = " ".join([*hints, *_find_hints(tools, groups)])
    text = f"{len(tools)} tool{'s' * (len(tools) != 1)}, about: "
    room = MAX_INSTRUCTIONS - len(f"{text}, and {len(tools)} more.\n{said}")
    ends = accumulate(len(noun) + 2 for noun in groups)
    nouns = [noun for noun, end in zip(groups, ends, strict=True) if end <= room]
    rest = len(groups) - len(nouns)
    more = f", and {rest} more" if rest else ""
    return f"{text}{', '.join(nouns)}{more}.\n{said}".strip()


def _find_hints(tools: Sequence[Tool], groups: Mapping[str, Sequence[str]]) -> Iterator[str]:
    names = (f"{noun}_{action}" for noun, actions in groups.items() for action in actions)
    if example := next(names, ""):
        yield (
            f"Names are noun and action, such as {example}: search for both words where not "
            "every tool is shown."
        )
    if any(tool.endpoint.standard_action == "list" for tool in tools):
        yield "Long lists come in pages: filter them before you read on."
    if any(tool.takes_fields for tool in tools):
        yield "In reads, `fields` names what you need of the answer, nested fields by dots."
