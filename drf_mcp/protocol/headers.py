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
from drf_mcp.protocol.constants import (
    METHOD_HEADER,
    NAME_HEADER,
    PROTOCOL_VERSION_HEADER,
    PROTOCOL_VERSION_KEY,
)
from drf_mcp.protocol.jsonrpc import Message

# Begins the name of a header that repeats an argument.
ARGUMENT_PREFIX = "Mcp-Param-"

_DECIMAL = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?")
_FORBIDDEN = re.compile(r"[^\t\x20-\x7e]")
_ENCODED = re.compile(r"=\?base64\?(.*)\?=")
_short = reprlib.Repr()
_short.maxstring = 100


def header_value(headers: Mapping[str, str], name: str) -> str | None:
    """Return a header's value without the whitespace around it, None if it is absent.

    Raises:
        HeaderMismatch: on a character that a header must not hold.
    """
    value = headers.get(name)
    return None if value is None else _stripped(value)


def decode_value(value: str) -> str:
    """Return what a header's value stands for ("Value Encoding").

    Raises:
        HeaderMismatch: on a character that a header must not hold, or a value in the
            form ``=?base64?...?=`` that is not the Base64 of UTF-8 text.
    """
    stripped = _stripped(value)
    encoded = _ENCODED.fullmatch(stripped)
    return stripped if encoded is None else _decode_base64(encoded[1])


def check(
    headers: Mapping[str, str],
    message: Message,
    revision: str,
    name_parameters: Mapping[str, str],
) -> None:
    """Hold the headers against the body ("Server Validation").

    Of a notification only the revision is compared: the specification leaves its other
    headers undefined.

    Args:
        headers: the request's headers.
        message: the message of the body.
        revision: the revision expected where the body names none.
        name_parameters: the parameter that the Mcp-Name header repeats, by method.

    Raises:
        HeaderMismatch: a header is missing, malformed or differs from the body.
    """
    declared = message.meta.get(PROTOCOL_VERSION_KEY)
    expected = declared if isinstance(declared, str) else revision
    _compare(PROTOCOL_VERSION_HEADER, header_value(headers, PROTOCOL_VERSION_HEADER), expected)
    if message.is_notification:
        return
    _compare(METHOD_HEADER, header_value(headers, METHOD_HEADER), message.method)
    if message.method in name_parameters:
        _check_name(headers, message.params.get(name_parameters[message.method]))


def check_arguments(
    headers: Mapping[str, str], arguments: Any, names: Mapping[tuple[str, ...], str]
) -> None:
    """Hold the headers that repeat arguments against the arguments ("Server Validation").

    Args:
        headers: the request's headers.
        arguments: the arguments of the call, any JSON value.
        names: the names of the headers without their prefix, by the path of each argument.

    Raises:
        HeaderMismatch: a header is missing, malformed, differs from its argument or stands
            for none.
    """
    for path, name in names.items():
        header = f"{ARGUMENT_PREFIX}{name}"
        value = headers.get(header)
        argument = _argument_at(arguments, path)
        if value is None and _text_of(argument) is None:
            continue
        decoded = None if value is None else decode_value(value)
        if not _is_same(decoded, argument):
            _compare(header, decoded, argument)


def argument_headers(arguments: Any, names: Mapping[tuple[str, ...], str]) -> dict[str, str]:
    """Return the headers in which a client repeats arguments ("Client Behavior").

    Takes the arguments of `check_arguments`.
    """
    texts = {name: _text_of(_argument_at(arguments, path)) for path, name in names.items()}
    return {
        f"{ARGUMENT_PREFIX}{name}": encode_value(text)
        for name, text in texts.items()
        if text is not None
    }


def encode_value(text: str) -> str:
    """Return the value of a header that stands for a text ("Value Encoding")."""
    if text and not _FORBIDDEN.search(text) and text == text.strip() and "=?base64?" not in text:
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def _argument_at(arguments: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        arguments = arguments.get(name) if isinstance(arguments, Mapping) else None
    return arguments


def _text_of(argument: Any) -> str | None:
    """Return an argument as a header has it; None where no header stands for it."""
    if isinstance(argument, bool):
        return "true" if argument else "false"
    return str(argument) if isinstance(argument, (str, int, float)) else None


def _is_same(decoded: str | None, argument: Any) -> bool:
    if decoded is None or isinstance(argument, (bool, str)) or not _DECIMAL.fullmatch(decoded):
        return decoded is not None and decoded == _text_of(argument)
    # Numbers are compared as numbers: 42.0 is 42.
    return isinstance(argument, (int, float)) and Decimal(decoded) == Decimal(str(argument))


def _check_name(headers: Mapping[str, str], expected: Any) -> None:
    value = headers.get(NAME_HEADER)
    # Without a name in the body there is nothing to repeat; the method refuses it.
    if value is not None or isinstance(expected, str):
        _compare(NAME_HEADER, None if value is None else decode_value(value), expected)


def _compare(name: str, value: str | None, expected: Any) -> None:
    if value is None:
        raise HeaderMismatch(
            f"Header mismatch: the {name} header is missing, body value {_short.repr(expected)}"
        )
    if value != expected:
        raise HeaderMismatch(
            f"Header mismatch: {name} header value {_short.repr(value)} "
            f"does not match body value {_short.repr(expected)}"
        )


def _stripped(value: str) -> str:
    stripped = value.strip(" \t")
    if _FORBIDDEN.search(stripped):
        raise HeaderMismatch(
            f"Header mismatch: header value {_short.repr(stripped)} holds characters "
            "other than visible ASCII, space and tab"
        )
    return stripped


def _decode_base64(payload: str) -> str:
    try:
        decoded = base64.b64decode(payload, validate=True)
        text = decoded.decode()
    except (binascii.Error, UnicodeDecodeError):
        raise _not_base64(payload) from None
    # The decoder lets stray bits and surplus padding pass.
    if base64.b64encode(decoded).decode() != payload:
        raise _not_base64(payload)
    return text


def _not_base64(payload: str) -> HeaderMismatch:
    return HeaderMismatch(
        f"Header mismatch: header value {_short.repr(payload)} is not the Base64 of UTF-8 text"
    )
