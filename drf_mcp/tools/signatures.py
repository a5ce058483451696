"""What a tool takes and gives, in one line: ``orders_list(status: str = None) -> [{id: int}]``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_mcp.json_text import encode_plain
from drf_mcp.outcomes import PAGE_MEMBERS

NAMES = {
    "array": "list",
    "boolean": "bool",
    "integer": "int",
    "null": "None",
    "number": "float",
    "object": "dict",
    "string": "str",
}
UNKNOWN = "Any"
# Objects inside one another that are written out, and the choices of a value.
MAX_DEPTH, MAX_CHOICES = 3, 12


class Signature:
    """The signature of a tool, with types in the place of descriptions.

    Args:
        tool: a `Tool`.
    """

    def __init__(self, tool: Any) -> None:
        self.tool = tool

    def write(self, name: str = "") -> str:
        """Return the signature, under the tool's own name or another."""
        return f"{name or self.tool.name}({self.get_arguments()}) -> {self.get_answer()}"

    def get_arguments(self) -> str:
        """Return the arguments, those that a call needs at first, as in a function."""
        schema = self.tool.input_schema
        required = schema.get("required", ())
        properties: Mapping[str, Any] = schema.get("properties", {})
        ordered = sorted(properties, key=lambda name: name not in required)
        return ", ".join(
            f"{name}: {write_type(properties[name])}{'' if name in required else ' = None'}"
            for name in ordered
        )

    def get_answer(self) -> str:
        """Return the type of the data; the rows alone of a page."""
        # Most fields may be null; to say it of each would be half of the text.
        return write_type(self.find_output()).replace(" | None", "")

    def find_output(self) -> Any:
        """Return the schema of the data, of a page that of its rows."""
        own = self.tool.options.output_schema
        schema = own if isinstance(own, Mapping) else self.tool.schema.output
        properties = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
        if "results" in properties and not properties.keys() - PAGE_MEMBERS - {"results"}:
            return properties["results"]
        return schema


def write_type(schema: Any, depth: int = 0) -> str:
    """Return the type of the values that a JSON Schema takes."""
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
    return " | ".join(write_one(name, schema, depth) for name in names) or UNKNOWN


def write_one(name: Any, schema: Mapping[str, Any], depth: int) -> str:
    if name == "array" and isinstance(schema.get("items"), Mapping):
        return f"[{write_type(schema['items'], depth)}]"
    properties = schema.get("properties")
    if name == "object" and isinstance(properties, Mapping) and properties and depth < MAX_DEPTH:
        members = (f"{each}: {write_type(properties[each], depth + 1)}" for each in properties)
        return f"{{{', '.join(members)}}}"
    return NAMES.get(str(name), UNKNOWN)
