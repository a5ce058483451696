"""An answer as plain JSON: how long its parts are, where they stand, putting others there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from drf_mcp.json_text import JSONPointer, encode_plain

Path: TypeAlias = tuple[str | int, ...]
"""Where a value stands: the names and positions that lead to it."""

AMBIGUOUS = re.compile(r"^$|[./:\[\]]")
"""Names of members that could be mistaken for a path."""
DEEPEST = 64
"""What stands deeper is taken as one piece."""


class Sizes:
    """The lengths of values as compact JSON, each measured once."""

    def __init__(self) -> None:
        # Holds the values too: the id of one that is gone could come back.
        self._known: dict[int, tuple[Any, int]] = {}

    def of(self, value: Any) -> int:
        """Return the length of a value."""
        # As JSON writes them, and in a tenth of the time: a list may hold very many.
        if type(value) in (int, float):
            return len(repr(value))
        if not isinstance(value, (dict, list)):
            return len(encode_plain(value))
        known = self._known.get(id(value))
        if known is None:
            known = self._known[id(value)] = (value, len(encode_plain(value)))
        return known[1]


def long_texts(tree: Any, length: int) -> Iterator[tuple[Path, str]]:
    """Yield the texts of more than this many characters and where they stand, in order.

    A tree that is a text is yielded whatever its length.
    """
    waiting: list[tuple[Path, Any]] = [((), tree)] if isinstance(tree, (str, dict, list)) else []
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            yield path, value
            continue
        members = value.items() if isinstance(value, dict) else enumerate(value)
        inside = [
            ((*path, key), member)
            for key, member in members
            if isinstance(member, (dict, list))
            or (isinstance(member, str) and len(member) > length)
        ]
        if len(path) < DEEPEST:
            waiting += reversed(inside)


def replaced(tree: Any, values: Mapping[Path, Any]) -> Any:
    """Return a tree with other values at some paths; the tree itself stays as it is."""
    if not values:
        return tree
    if () in values:
        return values[()]
    below: dict[str | int, dict[Path, Any]] = {}
    for path, value in values.items():
        below.setdefault(path[0], {})[path[1:]] = value
    copy = tree.copy()
    for key, inner in below.items():
        copy[key] = replaced(tree[key], inner)
    return copy


def value_at(tree: Any, path: Path) -> Any:
    """Return the value that stands at a path."""
    for key in path:
        tree = tree[key]
    return tree


def written(path: Path) -> str:
    """Return a path as people write it, ``results[17].body``.

    Where a name could be mistaken for a path, it is written as a JSON pointer.
    """
    if any(isinstance(key, str) and AMBIGUOUS.search(key) for key in path):
        return JSONPointer.from_path(path)
    text = "" if path and isinstance(path[0], str) else "data"
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}"
    return text.removeprefix(".")
