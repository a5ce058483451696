"""JSON as REST framework's own renderer writes it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rest_framework.utils.encoders import JSONEncoder

ENCODER = JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
# What Python's json writes as the name of a member.
KEYS = (str, int, float, type(None))


def encode_data(value: Any) -> str:
    """Return what a view answered as compact JSON.

    Raises:
        TypeError: on an object that REST framework cannot write either.
        ValueError: on NaN, an infinity or a circular value.
    """
    return ENCODER.encode(value)


class AnswerEncoder(JSONEncoder):
    """Writes an answer any number of times, though it may hold what can be read only once.

    REST framework writes a generator, a ``map`` and their like as an array. The first
    reading is kept for the next.
    """

    def __init__(self) -> None:
        super().__init__(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        # Holds the iterator too: the id of one that is gone could come back.
        self._read: dict[int, tuple[Any, tuple[Any, ...]]] = {}

    def default(self, obj: Any) -> Any:
        """Return what stands for an object that Python's json cannot write."""
        if not isinstance(obj, Iterator):
            return super().default(obj)
        if id(obj) not in self._read:
            self._read[id(obj)] = (obj, tuple(obj))
        return self._read[id(obj)][1]

    def plain(self, value: Any) -> Any:
        """Return a value as a JSON reader gets it."""
        return json.loads(self.encode(value))


def unencodable(value: Any) -> tuple[str, str] | None:
    """Return where a value holds what JSON cannot, and what it is; never the value itself.

    Returns:
        A JSON pointer and words such as ``of type Decimal``; None if the value can be
        written.
    """
    pointer, above = "", {id(value)}
    if is_encodable(value):
        return None
    while True:
        inner = ((name, member) for name, member in members(value) if not is_encodable(member))
        name, value = next(inner, (None, value))
        if name is None:
            return pointer, what_is_wrong(value)
        pointer += "/" + str(name).replace("~", "~0").replace("/", "~1")
        if id(value) in above:
            return pointer, "a part of itself"
        above.add(id(value))


def is_encodable(value: Any) -> bool:
    """Return whether JSON can hold a value."""
    try:
        encode_data(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def members(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the members of an object, or the items of an array, with their names."""
    if isinstance(value, Mapping):
        yield from ((name, item) for name, item in value.items() if isinstance(name, KEYS))
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from enumerate(value)


def what_is_wrong(value: Any) -> str:
    """Return in words what a value is that JSON cannot hold."""
    kind = type(value).__name__
    if isinstance(value, Mapping):
        keys = (type(name).__name__ for name in value if not isinstance(name, KEYS))
        return f"an object with a name of type {next(keys, kind)}"
    if isinstance(value, bytes):
        return "of type bytes, and not UTF-8"
    if isinstance(value, float):
        return "NaN or an infinity"
    return f"of type {kind}"


def to_bytes(text: str) -> bytes:
    """Return text as UTF-8; half a surrogate pair, which UTF-8 cannot hold, becomes U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
