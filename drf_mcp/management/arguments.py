"""A tool's arguments as they are written on a command line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandError

from drf_mcp.management.users import USAGE


def arguments_of(texts: Iterable[str]) -> dict[str, Any]:
    """Return arguments given as ``key=value`` and as JSON objects; the later of two wins.

    A value that is JSON is that value, any other a string; ``a.b=1`` is ``{"a": {"b": 1}}``.

    Raises:
        CommandError: on a text that is neither.
    """
    arguments: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if text.lstrip().startswith("{"):
            arguments.update(json_object(text))
        elif equals and all(name.split(".")):
            put(arguments, name.split("."), value_of(value))
        else:
            raise refused(f"{text[:60]!r} is neither KEY=VALUE nor a JSON object.")
    return arguments


def json_object(text: str) -> dict[str, Any]:
    """Return the object that a text holds."""
    try:
        value: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise refused(f"The arguments are not JSON: {exc}") from exc
    return value


def value_of(text: str) -> Any:
    """Return what a text holds as JSON; the text itself if it is none."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return text


def put(arguments: dict[str, Any], names: list[str], value: Any) -> None:
    """Place a value under nested names."""
    for depth, name in enumerate(names[:-1], start=1):
        arguments = arguments.setdefault(name, {})
        if not isinstance(arguments, dict):
            raise refused(f"{'.'.join(names[:depth])} is given twice, once as a value.")
    arguments[names[-1]] = value


def refused(message: str) -> CommandError:
    """Return the error of arguments that cannot be read."""
    return CommandError(message, returncode=USAGE)
