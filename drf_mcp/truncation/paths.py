"""Paths into an answer, and the names of its rows."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from drf_mcp.json_text import OBJECTS, JSONPointer, to_bytes

Path: TypeAlias = tuple[str | int, ...]
"""The names and positions that lead to a value."""

IDENTIFIERS = ("id", "pk", "uuid", "slug", "url")
LABELS = ("name", "title", "label", "subject", "display_name", "username", "code", "number")
MAX_NAME_LENGTH = 200
# The contract limits all parts of a digest.
MAX_DIGEST_LENGTH = 20_000
# Names of members that would make a dotted path ambiguous.
AMBIGUOUS = re.compile(r"^$|[./:\[\]]")


def find_value(tree: Any, path: Path) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def replace_values(tree: Any, values: Mapping[Path, Any]) -> Any:
    """Return a copy of a tree with other values at some paths."""
    if not values:
        return tree
    if () in values:
        return values[()]
    inner: dict[str | int, dict[Path, Any]] = {}
    for path, value in values.items():
        inner.setdefault(path[0], {})[path[1:]] = value
    copy = tree.copy()
    for key, members in inner.items():
        copy[key] = replace_values(tree[key], members)
    return copy


def format_path(path: Path) -> str:
    """Return a path as ``results[17].body``, or as a JSON pointer where that is ambiguous.

    The path can be written as UTF-8, and a very long one ends with a hash.
    """
    if any(isinstance(key, str) and AMBIGUOUS.search(key) for key in path):
        text: str = JSONPointer.from_path(path)
    else:
        parts = (f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
        text = "".join(parts).removeprefix(".")
        text = text if path and isinstance(path[0], str) else f"data{text}"
    text = to_bytes(text).decode()
    if len(text) <= MAX_NAME_LENGTH:
        return text
    return f"{text[:MAX_NAME_LENGTH]}~{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def is_digest(value: Any) -> bool:
    """Return whether a text, or an object, is a digest, which is never shortened."""
    if isinstance(value, str) and len(value) < MAX_DIGEST_LENGTH and "digest/v1" in value:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return False
    return isinstance(value, dict) and value.get("content_type") == "digest/v1"


def get_identifier(row: Any) -> str | None:
    """Return the primary key of a row as text, None if the row shows no key."""
    if isinstance(row, OBJECTS):
        for name in IDENTIFIERS:
            if _is_label(row.get(name)):
                text = str(row[name])
                return text if text.isascii() else to_bytes(text).decode()
    return None


def reduce_row(row: Any) -> Any:
    """Return the identifiers and the label of an object, an empty list for a list."""
    if isinstance(row, list):
        return []
    if not isinstance(row, dict):
        return row
    label = next((name for name in LABELS if _is_label(row.get(name))), None)
    names = {*IDENTIFIERS, label}
    return {name: value for name, value in row.items() if name in names and _is_label(value)}


def _is_label(value: Any) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= MAX_NAME_LENGTH
    return isinstance(value, int) and not isinstance(value, bool)
