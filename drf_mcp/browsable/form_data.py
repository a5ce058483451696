"""What the page's script has to know of a tool to build its form and to call it."""

from __future__ import annotations

from typing import Any

from drf_mcp.tools import Tool
from drf_mcp.tools.arguments.bound_call import Argument


def tool_facts(tool: Tool) -> dict[str, Any]:
    """Return the facts as JSON: the schema, and where in a request each argument goes."""
    hints = tool.annotations
    return {
        "name": tool.name,
        "title": tool.title,
        "method": tool.endpoint.method,
        "schema": tool.input_schema,
        "mirrored": [[list(path), header] for path, header in tool.mirrored.items()],
        "confirm": bool(hints["destructiveHint"]) and not hints["readOnlyHint"],
        "bodyType": tool.arguments.encoder.bodies.content_type.partition(";")[0],
        "bodyExpected": tool.arguments.encoder.bodies.expected,
        "arguments": [
            argument_facts(tool, argument)
            for argument in tool.arguments.arguments
            if argument.listed
        ],
    }


def argument_facts(tool: Tool, argument: Argument) -> dict[str, Any]:
    """Return where an argument stands, and where in the request it goes."""
    parameter = argument.parameter
    return {
        "pointer": tool.arguments.pointer(argument),
        "location": argument.location,
        "name": parameter.name,
        "whole": argument.whole,
        "comma": parameter.multiple == "comma",
        "upload": () in parameter.handling.uploads,
        "secret": parameter.write_only,
    }
