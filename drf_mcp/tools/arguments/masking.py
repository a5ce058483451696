"""Arguments for logs and errors: secrets masked, long values cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_mcp.introspection.names import sounds_secret
from drf_mcp.json_text import parse_json_text

MASK = "********"
MAX_NAME = 80
MAX_TEXT = 500
MAX_ITEMS = 20
MAX_MEMBERS = 50


def mask_secrets(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: mask_member(str(name), member) for name, member in value.items()}
    if isinstance(value, list):
        return [mask_secrets(item) for item in value]
    return value


def mask_member(name: str, value: Any) -> Any:
    return MASK if sounds_secret(name) else mask_secrets(value)


def escape_unprintable(text: str, limit: int = MAX_NAME) -> str:
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[:limit])


def parse_nested_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: parse_nested_json(member) for name, member in value.items()}
    if isinstance(value, list):
        return [parse_nested_json(item) for item in value]
    parsed = parse_json_text(parse_json_text(value, dict), list)
    return value if parsed is value else parse_nested_json(parsed)


def shorten_value(value: Any) -> Any:
    if isinstance(value, str) and len(value) > MAX_TEXT:
        return f"{value[:MAX_TEXT]}… ({len(value)} characters)"
    if isinstance(value, list):
        rest = len(value) - MAX_ITEMS
        kept = [shorten_value(item) for item in value[:MAX_ITEMS]]
        return [*kept, f"… ({rest} more)"] if rest > 0 else kept
    if isinstance(value, Mapping):
        rest = len(value) - MAX_MEMBERS
        kept_names = list(value)[:MAX_MEMBERS]
        kept_members = {name[:MAX_NAME]: shorten_value(value[name]) for name in kept_names}
        return {**kept_members, "…": f"{rest} more"} if rest > 0 else kept_members
    return value
