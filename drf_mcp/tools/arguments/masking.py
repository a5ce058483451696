"""Secrets among the arguments, which no answer repeats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_mcp.introspection.names import sounds_secret

MASK = "********"


def mask_secrets(value: Any) -> Any:
    """Return a value with the members that look like secrets masked."""
    if isinstance(value, Mapping):
        return {name: mask_member(str(name), member) for name, member in value.items()}
    if isinstance(value, list):
        return [mask_secrets(item) for item in value]
    return value


def mask_member(name: str, value: Any) -> Any:
    """Return the value of a member of this name, masked where it looks like a secret."""
    return MASK if sounds_secret(name) else mask_secrets(value)
