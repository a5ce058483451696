"""The HTTP headers that repeat parts of the body (2026-07-28, streamable-http,
"Request Metadata").

Headers are any case-insensitive mapping, such as Django's ``request.headers``.
"""

from __future__ import annotations

import base64
import binascii
import re
import reprlib
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from drf_mcp.exceptions import HeaderMismatch

# Begins the name of a header that repeats an argument.
ARGUMENT_PREFIX = "Mcp-Param-"

_DECIMAL = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?")
_FORBIDDEN = re.compile(r"[^\t\x20-\x7e]")
# Nearly every value is such a text, which needs no encoding.
_PLAIN = re.compile(r"[A-Za-z0-9_./-]+")
_ENCODED = re.compile(r"=\?base64\?(.*)\?=")
_short = reprlib.Repr()
_short.maxstring = 100


class HeaderValue(str):
    """The value of a header, without the whitespace around it."""

    __slots__ = ()

    def __new__(cls, value: str) -> HeaderValue:
        stripped = value.strip(" \t")
        if _FORBIDDEN.search(stripped):
            text = (
                "Header mismatch: header value %(value)s holds characters other than visible ASCII,"
                " space and tab"
            )
            raise HeaderMismatch(text % {"value": _short.repr(stripped)})
        return super().__new__(cls, stripped)

    @classmethod
    def from_headers(cls, headers: Mapping[str, str], name: str) -> HeaderValue | None:
        value = headers.get(name)
        return None if value is None else cls(value)

    @classmethod
    def from_text(cls, text: str) -> str:
        """Encode a text as the value of a header ("Value Encoding")."""
        is_encoded = "=?base64?" in text or _FORBIDDEN.search(text)
        if text and not is_encoded and text == text.strip():
            return text
        return f"=?base64?{base64.b64encode(text.encode()).decode()}?="

    def to_text(self) -> str:
        encoded = _ENCODED.fullmatch(self)
        if encoded is None:
            return str(self)
        try:
            decoded = base64.b64decode(encoded[1], validate=True)
            # The decoder accepts stray bits and surplus padding.
            if base64.b64encode(decoded).decode() == encoded[1]:
                return decoded.decode()
        except (binascii.Error, UnicodeDecodeError):
            pass
        text = "Header mismatch: header value %(value)s is not the Base64 of UTF-8 text"
        raise HeaderMismatch(text % {"value": _short.repr(encoded[1])})


class RepeatedArguments:
    """Arguments that HTTP headers repeat."""

    def __init__(self, arguments: Any, names: Mapping[tuple[str, ...], str]) -> None:
        self.values = {
            f"{ARGUMENT_PREFIX}{name}": self.find(arguments, path) for path, name in names.items()
        }

    def find(self, arguments: Any, path: tuple[str, ...]) -> Any:
        for name in path:
            arguments = arguments.get(name) if isinstance(arguments, Mapping) else None
        return arguments

    def make_headers(self) -> dict[str, str]:
        texts = {name: self.to_text(value) for name, value in self.values.items()}
        return {n: HeaderValue.from_text(text) for n, text in texts.items() if text is not None}

    def check(self, headers: Mapping[str, str]) -> None:
        for header, argument in self.values.items():
            value = HeaderValue.from_headers(headers, header)
            if value is None and self.to_text(argument) is None:
                continue
            text = None if value is None else value.to_text()
            if text is None or not self._is_same(text, argument):
                _compare_header(header, text, argument)

    def to_text(self, argument: Any) -> str | None:
        if isinstance(argument, bool):
            return "true" if argument else "false"
        return str(argument) if isinstance(argument, (str, int, float)) else None

    def _is_same(self, text: str, argument: Any) -> bool:
        if isinstance(argument, (bool, str)) or not _DECIMAL.fullmatch(text):
            return text == self.to_text(argument)
        # Numbers are compared as numbers: 42.0 is 42.
        return isinstance(argument, (int, float)) and Decimal(text) == Decimal(str(argument))


def check_header(
    headers: Mapping[str, str], name: str, expected: Any, *, is_encoded: bool = False
) -> None:
    """Compare a header with the value that it repeats."""
    sent = headers.get(name)
    if sent == expected and sent and _PLAIN.fullmatch(sent):
        return
    value = None if sent is None else HeaderValue(sent)
    if value is not None or isinstance(expected, str):
        text = value.to_text() if value is not None and is_encoded else value
        _compare_header(name, text, expected)


def _compare_header(name: str, value: str | None, expected: Any) -> None:
    if value is None:
        text = "Header mismatch: the %(name)s header is missing, body value %(expected)s"
    elif value != expected:
        text = (
            "Header mismatch: %(name)s header value %(value)s does not match body value"
            " %(expected)s"
        )
    else:
        return
    # As a str, since reprlib shortens a subclass in another way.
    facts = {"value": _short.repr(str(value)), "expected": _short.repr(expected)}
    raise HeaderMismatch(text % {"name": name, **facts})
