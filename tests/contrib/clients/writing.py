"""Clients generated from schemas alone."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any
from unittest import mock

from drf_mcp.contrib.clients.schema_types import ClientTool, TypeReader, UniqueNames
from drf_mcp.contrib.clients.writers import PythonWriter, TypeScriptWriter

# Reserved words, hyphens, quotes, ends of comments.
AWKWARD_NAMES = [
    *("from", "class", "self", "int", "list", "Any", "__private", "x-y", "2fa", "naïve", 'a"b'),
    *("a\\b", "constructor", "default", "new", "args", "a.b", "$", "TypedDict", "Tools"),
]
AWKWARD_TEXT = 'Ends "so" \\ */ """ \x00 \u2028 // # ${x}\nand "so"'
AWKWARD_SCHEMA = {
    "type": "object",
    "properties": {
        name: {"type": "string", "description": AWKWARD_TEXT, "enum": [name, AWKWARD_TEXT]}
        for name in AWKWARD_NAMES
    },
    "required": AWKWARD_NAMES[:3],
}


def write_client(
    writer_class: type[PythonWriter | TypeScriptWriter],
    schemas: dict[str, tuple[dict[str, Any], Any]],
    description: str = "",
) -> str:
    """Return the client of tools: each name with the schemas of its arguments and data."""
    writer = writer_class()
    reader = TypeReader(UniqueNames(writer.reserved))
    tools = [
        ClientTool.read(reader, name, description, arguments, data, "response-v2")
        for name, (arguments, data) in schemas.items()
    ]
    return writer.write("shop", tools, list(reader.records))


def run_client(text: str) -> ModuleType:
    """Return the module of a Python client."""
    module = ModuleType("generated_client")
    # Dataclasses look up their module in sys.modules.
    with mock.patch.dict(sys.modules, {module.__name__: module}):
        exec(compile(text, "generated_client.py", "exec"), vars(module))
    return module
