"""What a log may hold of a caller's texts: one line, bounded, without secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_mcp.tools.arguments.bound_call import Call, parse_json_text
from drf_mcp.tools.arguments.masking import MASK
from drf_mcp.tools.tool import Tool

MAX_NAME = 80
MAX_TEXT = 500
MAX_ITEMS = 20
MAX_MEMBERS = 50


def escape_unprintable(text: str, limit: int = MAX_NAME) -> str:
    """Return the start of a text on one line, what does not print escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[:limit])


def sanitize_arguments(tool: Tool, arguments: Any) -> Any:
    """Return arguments with what is write-only or sounds like a secret masked, and shortened.

    Args:
        tool: the tool they were sent to.
        arguments: what was sent, any JSON value; one that is no object is masked whole.
    """
    if not isinstance(arguments, Mapping):
        return None if arguments is None else MASK
    read = parse_nested_json(arguments)
    return shorten_value(tool.pointers(Call(read)).masked(read, ""))


def parse_nested_json(value: Any) -> Any:
    """Return a value with the JSON read that clients send as strings: secrets may be in it."""
    if isinstance(value, Mapping):
        return {name: parse_nested_json(member) for name, member in value.items()}
    if isinstance(value, list):
        return [parse_nested_json(item) for item in value]
    held = parse_json_text(parse_json_text(value, dict), list)
    return value if held is value else parse_nested_json(held)


def shorten_value(value: Any) -> Any:
    """Return a value with long texts cut and of many rows or members the first."""
    if isinstance(value, str) and len(value) > MAX_TEXT:
        return f"{value[:MAX_TEXT]}… ({len(value)} characters)"
    if isinstance(value, list):
        rest = len(value) - MAX_ITEMS
        kept = [shorten_value(item) for item in value[:MAX_ITEMS]]
        return [*kept, f"… ({rest} more)"] if rest > 0 else kept
    if isinstance(value, Mapping):
        rest = len(value) - MAX_MEMBERS
        kept_names = list(value)[:MAX_MEMBERS]
        members = {name[:MAX_NAME]: shorten_value(value[name]) for name in kept_names}
        return {**members, "…": f"{rest} more"} if rest > 0 else members
    return value
