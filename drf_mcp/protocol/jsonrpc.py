"""JSON-RPC 2.0 as MCP narrows it (basic/index, "Messages")."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from json.encoder import encode_basestring
from types import NoneType
from typing import Any, NoReturn

from django.utils.functional import cached_property

from drf_mcp.exceptions import InvalidParams, InvalidRequest, ParseError, ProtocolError
from drf_mcp.json_text import encode_ascii, encode_plain, is_nested_deeper

# Up to here a double represents every integer exactly.
MAX_EXACT = 2**53
# Levels of objects and lists in a message.
MAX_LEVELS = 100
TOO_DEEP = f"The body is nested deeper than {MAX_LEVELS} levels."

RequestId = str | int


@dataclass
class Message:
    """A request, or without an id a notification, which gets no response."""

    id: RequestId | None
    method: str
    params: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, value: Any) -> Message | ClientResponse:
        if not isinstance(value, dict):
            raise InvalidRequest("A message must be a JSON object.")
        if value.get("jsonrpc") != "2.0":
            raise InvalidRequest('The member "jsonrpc" must be "2.0".')
        if "method" not in value and ("result" in value or "error" in value):
            return ClientResponse(_read_id(value), value.get("result"))
        id = to_request_id(value.get("id"))
        if "id" in value and id is None:
            raise InvalidRequest('The member "id" must be a string or an integer.')
        method = value.get("method")
        if not isinstance(method, str):
            raise InvalidRequest('The member "method" must be a string.')
        params = value.get("params")
        # Some serializers write null for missing params.
        if params is None:
            return cls(id, method)
        if not isinstance(params, dict):
            raise InvalidParams('The member "params" must be an object.')
        if "_meta" in params and not isinstance(params["_meta"], (dict, NoneType)):
            raise InvalidParams('The member "_meta" of the params must be an object.')
        return cls(id, method, params)

    @property
    def is_notification(self) -> bool:
        return self.id is None

    @cached_property
    def meta(self) -> dict[str, Any]:
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}


@dataclass(frozen=True)
class ClientResponse:
    """The response of a client to a request of the server.

    Attributes:
        id: the id of the request, None if it is not valid.
        result: any JSON value; None where the client sent an error.
    """

    id: RequestId | None = None
    result: Any = None


class Encoded(bytes):
    """Encoded JSON, which `encode_result` copies into the response."""

    __slots__ = ()


class StrictDecoder(json.JSONDecoder):
    """Reads JSON as RFC 7493 restricts it: unique keys, no lone surrogates, finite numbers.

    Other JSON is read differently by different parsers.
    """

    def __init__(self) -> None:
        super().__init__(
            object_pairs_hook=self._make_object,
            parse_float=self._make_number,
            parse_constant=self._refuse_constant,
        )

    def read(self, text: str) -> Any:
        try:
            return self.decode(text)
        except json.JSONDecodeError as exc:
            text = "The body is not JSON: %(msg)s (line %(lineno)s, column %(colno)s)."
            raise ParseError(text % vars(exc)) from None
        except ValueError:
            # Python refuses to convert an integer of more than some thousand digits.
            raise ParseError("An integer of the body has too many digits.") from None
        except RecursionError:
            raise ParseError(TOO_DEEP) from None

    def check(self, text: str, value: Any) -> None:
        if is_nested_deeper(text, MAX_LEVELS):
            raise ParseError(TOO_DEEP)
        # UTF-8 has no surrogates, so only an escape can have made one.
        is_escaped = "\\ud" in text or "\\uD" in text
        if is_escaped and _SURROGATE.search(encode_plain(value)):
            raise ParseError("A string of the body holds half of a surrogate pair.")

    def _make_object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            counts = Counter(name for name, _value in pairs)
            name = next(name for name, count in counts.items() if count > 1)
            raise ParseError(f"The key {json.dumps(name[:100])} appears twice in one object.")
        return members

    def _make_number(self, literal: str) -> float:
        number = float(literal)
        if math.isinf(number):
            raise ParseError("A number of the body is too large.")
        return number

    def _refuse_constant(self, literal: str) -> NoReturn:
        raise ParseError(f"The body is not JSON: {literal} is no JSON number.")


def decode(body: bytes) -> Message | ClientResponse:
    """Read a message. An error has the id of the message where it could be read.

    Raises:
        ProtocolError: if the body is malformed.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError as exc:
        reason = f"The body is not UTF-8: invalid byte at {exc.start}."
        raise ParseError(reason) from None
    try:
        value = _DECODER.read(text)
    except ParseError as exc:
        exc.id = _recover_id(text)
        raise
    try:
        _DECODER.check(text, value)
        if isinstance(value, list):
            raise InvalidRequest("There are no batches: send one message per request.")
        return Message.from_json(value)
    except ProtocolError as exc:
        exc.id = _read_id(value)
        raise


def find_id(body: bytes) -> RequestId | None:
    """Return the id of the request in a body, None for anything else."""
    try:
        decoded = decode(body)
    except ProtocolError as exc:
        return exc.id
    return decoded.id if isinstance(decoded, Message) else None


class Pairs(list[tuple[str, Any]]):
    """The members of an object whose names may be repeated."""


def _recover_id(text: str) -> RequestId | None:
    # Reads the id of JSON that `StrictDecoder` refuses, such as for a repeated key or NaN.
    try:
        value = json.loads(text, object_pairs_hook=Pairs)
    except (ValueError, RecursionError):
        return None
    ids = [it for name, it in value if name == "id"] if isinstance(value, Pairs) else []
    return _read_id({"id": ids[0]}) if len(ids) == 1 else None


def to_request_id(value: Any) -> RequestId | None:
    # By type, since a bool is an int in Python.
    if type(value) in (str, int):
        return value  # type: ignore[no-any-return]
    # In JSON 1.0 is an integer, as far as a float represents it exactly.
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_EXACT:
        return int(value)
    return None


def _read_id(value: Any) -> RequestId | None:
    id = to_request_id(value.get("id")) if isinstance(value, dict) else None
    return None if isinstance(id, str) and _SURROGATE.search(id) else id


def encode(value: Any) -> bytes:
    try:
        return encode_plain(value).encode()
    except UnicodeEncodeError:
        # A lone surrogate can only be written as an escape.
        return encode_ascii(value).encode()


def encode_result(id: RequestId | None, members: Mapping[str, Any]) -> bytes:
    """Encode the response that carries a result, its members JSON values or `Encoded`."""
    values: dict[str, Any] = {}
    spliced: list[bytes] = []
    for name, value in members.items():
        if type(value) is Encoded:
            spliced.append(b"%b:%b" % (encode_basestring(name).encode(), value))
        else:
            values[name] = value
    response = encode({"jsonrpc": "2.0", "id": id, "result": values})
    if not spliced:
        return response
    # Before the braces that close the result and the response.
    return b"%b%b%b}}" % (response[:-2], b"," if values else b"", b",".join(spliced))


def encode_error(id: RequestId | None, exc: ProtocolError, *, null_id: bool = True) -> bytes:
    """Encode the response that carries an error; an unknown id is null or left out."""
    members: dict[str, Any] = {"code": exc.code, "message": exc.message}
    if exc.data is not None:
        members["data"] = exc.data
    known = {"id": id} if id is not None or null_id else {}
    return encode({"jsonrpc": "2.0", **known, "error": members})


def encode_message(method: str, params: Mapping[str, Any], id: RequestId | None = None) -> bytes:
    """Encode a notification of the server, or with an id a request."""
    sent_id = {} if id is None else {"id": id}
    return encode({"jsonrpc": "2.0", **sent_id, "method": method, "params": params})


_DECODER = StrictDecoder()

_SURROGATE = re.compile("[\ud800-\udfff]")
