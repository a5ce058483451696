"""JSON as REST framework's own renderer writes it."""

from __future__ import annotations

from typing import Any

from rest_framework.utils.encoders import JSONEncoder

ENCODER = JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encode_data(value: Any) -> str:
    """Return what a view answered as compact JSON.

    Raises:
        TypeError: on an object that REST framework cannot write either.
        ValueError: on NaN, an infinity or a circular value.
    """
    return ENCODER.encode(value)


def to_bytes(text: str) -> bytes:
    """Return text as UTF-8; half a surrogate pair, which UTF-8 cannot hold, becomes U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
