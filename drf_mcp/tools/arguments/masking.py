"""Secrets among the arguments, which no answer repeats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_mcp.introspection.names import sounds_secret

MASK = "********"


def masked(value: Any) -> Any:
    """Return a value with the members that look like secrets masked."""
    if isinstance(value, Mapping):
        return {name: masked_member(str(name), member) for name, member in value.items()}
    if isinstance(value, list):
        return [masked(item) for item in value]
    return value


def masked_member(name: str, value: Any) -> Any:
    """Return the value of a member of this name, masked where it looks like a secret."""
    return MASK if sounds_secret(name) else masked(value)
