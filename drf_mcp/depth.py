"""How deep JSON is nested: readers give up at a depth of their own."""

from __future__ import annotations

_KINDS = bytes.maketrans(b"{}", b"[]")
_NEITHER = bytes(set(range(256)) - set(b'[]{}"'))


class NestedTooDeep(ValueError):
    """A value is nested deeper than readers of JSON follow.

    Args:
        most: the deepest that is taken.
    """

    def __init__(self, most: int) -> None:
        super().__init__(f"nested deeper than {most} levels")


def is_nested_deeper(text: str, most: int) -> bool:
    """Return whether valid JSON holds more objects and arrays inside one another than this.

    Few brackets settle it; else the innermost pairs are taken away until none is left.
    """
    if text.count("[") + text.count("{") <= most:
        return False
    encoded = text.encode(errors="replace")
    if b"\\" in encoded:
        encoded = encoded.replace(rb"\\", b"").replace(rb"\"", b"")
    brackets = encoded.translate(_KINDS, delete=_NEITHER)
    # Most strings hold no brackets; of the others every second piece between quotes is one.
    brackets = brackets.replace(b'""', b"")
    brackets = b"".join(brackets.split(b'"')[::2])
    for _ in range(most):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)
