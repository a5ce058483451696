"""The two eras of the protocol behind one interface, and the kinds of results.

HTTP headers repeat parts of the body (2026-07-28, streamable-http, "Request Metadata").
"""

from __future__ import annotations

import base64
import binascii
import re
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, NoReturn

from drf_mcp.codes import LOG_LEVELS
from drf_mcp.exceptions import (
    HeaderMismatch,
    InternalError,
    InvalidParams,
    MethodNotFound,
    ProtocolError,
    UnsupportedProtocolVersion,
)
from drf_mcp.outcomes import Question
from drf_mcp.protocol import constants
from drf_mcp.protocol.constants import (
    CLIENT_CAPABILITIES_KEY,
    PROTOCOL_VERSION_HEADER,
    PROTOCOL_VERSION_KEY,
    STATELESS_REVISION,
)
from drf_mcp.protocol.jsonrpc import Message, RequestId, encode_error
from drf_mcp.settings import mcp_settings

# Begins the name of a header that repeats an argument.
ARGUMENT_PREFIX = "Mcp-Param-"

_DECIMAL = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?")
_FORBIDDEN = re.compile(r"[^\t\x20-\x7e]")
_ENCODED = re.compile(r"=\?base64\?(.*)\?=")
_short = reprlib.Repr()
_short.maxstring = 100


def read_header(headers: Mapping[str, str], name: str) -> str | None:
    """Return the value of a header without the whitespace around it, None where it is missing."""
    if name not in headers:
        return None
    value = headers[name].strip(" \t")
    if _FORBIDDEN.search(value):
        raise HeaderMismatch(
            f"Header mismatch: header value {_short.repr(value)} holds characters other than"
            " visible ASCII, space and tab"
        )
    return value


def encode_header(text: str) -> str:
    """Return a text as the value of a header ("Value Encoding")."""
    is_encoded = "=?base64?" in text or _FORBIDDEN.search(text)
    if text and not is_encoded and text == text.strip():
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def decode_header(value: str | None) -> str | None:
    encoded = None if value is None else _ENCODED.fullmatch(value)
    if encoded is None:
        return value
    try:
        decoded = base64.b64decode(encoded[1], validate=True)
        # The decoder accepts stray bits and surplus padding.
        if base64.b64encode(decoded).decode() == encoded[1]:
            return decoded.decode()
    except (binascii.Error, UnicodeDecodeError):
        pass
    shown = _short.repr(encoded[1])
    raise HeaderMismatch(f"Header mismatch: header value {shown} is not the Base64 of UTF-8 text")


def _check_header(headers: Mapping[str, str], name: str, expected: Any) -> None:
    """Compare a header with the value that it repeats."""
    _compare_header(name, read_header(headers, name), expected)


def _compare_header(name: str, value: str | None, expected: Any) -> None:
    # The method refuses a body without the value.
    if value != expected and (value is not None or isinstance(expected, str)):
        _refuse_header(name, value, expected)


def _refuse_header(name: str, value: str | None, expected: Any) -> NoReturn:
    sent = f"{name} header value {_short.repr(value)} does not match"
    if value is None:
        sent = f"the {name} header is missing,"
    raise HeaderMismatch(f"Header mismatch: {sent} body value {_short.repr(expected)}")


# The names of headers that repeat arguments, by the paths of the arguments.
Repeated = Mapping[tuple[str, ...], str]


def repeat_arguments(arguments: Any, names: Repeated) -> dict[str, str]:
    """Return the headers that repeat arguments."""
    found = {name: _write_argument(_find_argument(arguments, p)) for p, name in names.items()}
    return {
        f"{ARGUMENT_PREFIX}{name}": encode_header(text)
        for name, text in found.items()
        if text is not None
    }


def check_arguments(headers: Mapping[str, str], arguments: Any, names: Repeated) -> None:
    """Raise HeaderMismatch unless the headers that repeat arguments agree with them."""
    for path, name in names.items():
        header, argument = f"{ARGUMENT_PREFIX}{name}", _find_argument(arguments, path)
        text = decode_header(read_header(headers, header))
        if not _is_same(text, argument):
            _refuse_header(header, text, argument)


def _find_argument(arguments: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        arguments = arguments.get(name) if isinstance(arguments, Mapping) else None
    return arguments


def _write_argument(argument: Any) -> str | None:
    if isinstance(argument, bool):
        return "true" if argument else "false"
    return str(argument) if isinstance(argument, (str, int, float)) else None


def _is_same(text: str | None, argument: Any) -> bool:
    is_number = isinstance(argument, (int, float)) and not isinstance(argument, bool)
    if not is_number or text is None or not _DECIMAL.fullmatch(text):
        return text == _write_argument(argument)
    # 42.0 is 42.
    return Decimal(text) == Decimal(str(argument))


# How many characters of the caller's text an error repeats.
MAX_ECHO = 100
Headers = Mapping[str, str] | None
Names = Mapping[str, str]
Members = Mapping[str, Any]

_REVISION = re.compile(r"\d{4}-\d{2}-\d{2}")


# The members of ``params`` with the state and the answers of an earlier round.
STATE, RESPONSES = "requestState", "inputResponses"


class Unfinished:
    """The result of a request that is not complete yet (2026-07-28, ``resultType``)."""

    @property
    def members(self) -> dict[str, Any]:
        raise NotImplementedError


@dataclass(frozen=True)
class InputRequired(Unfinished):
    """The result of a request that waits for answers of the client."""

    questions: Sequence[Question]
    state: str

    @property
    def members(self) -> dict[str, Any]:
        return {
            "resultType": "input_required",
            "inputRequests": {q.key: self.get_request(q) for q in self.questions},
            "requestState": self.state,
        }

    def get_request(self, question: Question) -> Mapping[str, Any]:
        # client/elicitation
        if question.request is not None:
            return question.request
        params: dict[str, Any] = {"mode": question.mode, "message": question.message}
        form = {"url": question.url} if question.url else {"requestedSchema": question.schema}
        return {"method": "elicitation/create", "params": params | form}


# The capabilities of a client that can show forms to its user.
FORM_CAPABILITIES: Mapping[str, Any] = {"elicitation": {"form": {}}}


def read_modes(meta: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the client can be asked for: "form", "url", "sampling", "roots"."""
    capabilities = meta.get(CLIENT_CAPABILITIES_KEY)
    if not isinstance(capabilities, dict):
        return ()
    others = tuple(mode for mode in ("sampling", "roots") if mode in capabilities)
    declared = capabilities.get("elicitation")
    if not isinstance(declared, dict):
        return others
    # An empty object declares forms.
    modes = tuple(mode for mode in ("form", "url") if mode in declared) or ("form",)
    return (*modes, *others)


def read_responses(params: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return the answers of a request by the key of their question."""
    responses = params.get(RESPONSES, {})
    if not isinstance(responses, Mapping):
        raise InvalidParams('The member "inputResponses" must be an object.')
    for key, response in responses.items():
        if not isinstance(response, Mapping):
            raise InvalidParams(f'The answer "{key[:100]}" of "inputResponses" must be an object.')
    return responses


# --- Eras ---------------------------------------------------------------------------------------


class Era(ABC):
    """How messages of one revision are checked and answered.

    Up to 2025-11-25 a client shakes hands with ``initialize`` and names the revision in a
    header from then on; since 2026-07-28 every request carries all that is needed to serve it.
    """

    # The HTTP status of a method that does not exist.
    not_found_status: ClassVar[int]
    # Whether a client may post responses.
    serves_responses: ClassVar[bool]
    # Whether clients repeat arguments in headers that a tool names.
    repeats_arguments: ClassVar[bool] = False
    # Whether a result may ask for input, which the client then sends with the same request.
    asks_for_input: ClassVar[bool] = False

    def __init__(self, revision: str) -> None:
        self.revision = revision
        self.methods = constants.RESULT_MEMBERS[revision]

    @abstractmethod
    def validate(self, message: Message, headers: Headers, name_parameters: Names) -> None:
        """Raise the `ProtocolError` that refuses a message of the era."""

    @abstractmethod
    def finish(
        self, members: Members, defined: frozenset[str], server_info: Members
    ) -> dict[str, Any]:
        """Return the members of a result as the revision wants them, the others left out."""

    def write(
        self, result: Members | Unfinished, defined: frozenset[str], server_info: Members
    ) -> dict[str, Any]:
        """Return the members of a complete result, of a question or of a task."""
        if not isinstance(result, Unfinished):
            return self.finish(result, defined, server_info)
        if not self.asks_for_input:
            raise InternalError(f"{self.revision} has results of one kind.")
        return {**result.members, "_meta": {constants.SERVER_INFO_KEY: server_info}}

    def method_not_found(self, method: str) -> MethodNotFound:
        return MethodNotFound(method[:MAX_ECHO], http_status=self.not_found_status)

    @property
    def content_types(self) -> frozenset[str]:
        return constants.CONTENT_TYPES[self.revision]

    def tool_members(self, tool: Members) -> dict[str, Any]:
        return self.find_defined(tool, constants.TOOL_MEMBERS[self.revision])

    def implementation_members(self, implementation: Members) -> dict[str, Any]:
        return self.find_defined(implementation, constants.IMPLEMENTATION_MEMBERS[self.revision])

    def find_defined(self, members: Members, names: frozenset[str]) -> dict[str, Any]:
        return {name: value for name, value in members.items() if name in names}


class HandshakeEra(Era):
    """2025-06-18 and 2025-11-25 (basic/lifecycle, basic/transports).

    It serves clients of 2025-03-26, too, without batches.
    """

    not_found_status = 200
    serves_responses = True

    def validate(self, message: Message, headers: Headers, name_parameters: Names) -> None:
        requested = message.params.get("protocolVersion")
        if message.method == "initialize" and not isinstance(requested, str):
            raise InvalidParams('The params of initialize must name a "protocolVersion".')

    def finish(
        self, members: Members, defined: frozenset[str], server_info: Members
    ) -> dict[str, Any]:
        return self.find_defined(members, defined)

    @staticmethod
    def negotiate(requested: Any) -> str:
        """Return the revision that answers ``initialize`` ("Version Negotiation")."""
        served = (*constants.HANDSHAKE_REVISIONS, constants.OLDER_REVISION)
        return requested if requested in served else constants.LATEST_HANDSHAKE_REVISION


class StatelessEra(Era):
    """2026-07-28 (basic/index, basic/versioning, basic/transports/streamable-http)."""

    not_found_status = 404
    serves_responses = False
    repeats_arguments = True
    asks_for_input = True

    def validate(self, message: Message, headers: Headers, name_parameters: Names) -> None:
        meta = message.meta
        requested = meta.get(PROTOCOL_VERSION_KEY)
        # Headers that differ from the body are an error even in a revision that is not supported.
        if headers is not None:
            version = requested if isinstance(requested, str) else self.revision
            self.check_headers(headers, message, version, name_parameters.get(message.method))
        if isinstance(requested, str) and requested != self.revision:
            raise _make_unsupported(requested)
        if message.id is None:
            return
        for key, kind in ((PROTOCOL_VERSION_KEY, str), (CLIENT_CAPABILITIES_KEY, dict)):
            if key not in meta:
                raise InvalidParams(f'The "_meta" of the params lacks "{key}".')
            if not isinstance(meta[key], kind):
                noun = "a string" if kind is str else "an object"
                raise InvalidParams(f'The member "{key}" of "_meta" must be {noun}.')
        level, levels = constants.LOG_LEVEL_KEY, LOG_LEVELS
        if level in meta and meta[level] not in levels:
            raise InvalidParams(f'The member "{level}" must be one of {", ".join(levels)}.')

    def check_headers(
        self, headers: Mapping[str, str], message: Message, version: str, parameter: str | None
    ) -> None:
        # "Server Validation". Mcp-Name repeats the member `parameter` of ``params``.
        _check_header(headers, PROTOCOL_VERSION_HEADER, version)
        # The specification leaves the other headers of a notification undefined.
        if message.id is not None:
            _check_header(headers, constants.METHOD_HEADER, message.method)
            if parameter is not None:
                sent = decode_header(read_header(headers, constants.NAME_HEADER))
                _compare_header(constants.NAME_HEADER, sent, message.params.get(parameter))

    def finish(
        self, members: Members, defined: frozenset[str], server_info: Members
    ) -> dict[str, Any]:
        # A cacheable result is private to the caller unless ``cacheScope`` says otherwise
        # (server/utilities/caching).
        finished = {"resultType": "complete", **self.find_defined(members, defined)}
        own = members.get("_meta") or {}
        finished["_meta"] = {**own, constants.SERVER_INFO_KEY: server_info}
        if defined >= constants.CACHE_MEMBERS:
            finished.setdefault("ttlMs", mcp_settings.LIST_TTL * 1000)
            finished.setdefault("cacheScope", "private")
        return finished


ERAS: Mapping[str, Era] = {
    STATELESS_REVISION: StatelessEra(STATELESS_REVISION),
    **{revision: HandshakeEra(revision) for revision in constants.HANDSHAKE_REVISIONS},
}


def select_era(message: Message, headers: Headers) -> Era:
    """Return the era of a message (basic/versioning, "Backward Compatibility")."""
    if PROTOCOL_VERSION_KEY in message.meta:
        return ERAS[STATELESS_REVISION]
    era = select_by_headers(headers)
    if message.method == "initialize" and isinstance(era, HandshakeEra):
        return _find_era(era.negotiate(message.params.get("protocolVersion")))
    return era


def select_by_headers(headers: Headers) -> Era:
    """Return the era that the headers alone name, for a client's response."""
    if headers is None:
        return ERAS[constants.LATEST_HANDSHAKE_REVISION]
    revision = read_header(headers, PROTOCOL_VERSION_HEADER)
    if revision is None:
        return ERAS[constants.DEFAULT_REVISION]
    return _find_era(revision)


def _find_era(revision: str) -> Era:
    served = constants.DEFAULT_REVISION if revision == constants.OLDER_REVISION else revision
    if served not in ERAS:
        raise _make_unsupported(revision)
    return ERAS[served]


def _make_unsupported(requested: str) -> UnsupportedProtocolVersion:
    return UnsupportedProtocolVersion(requested[:MAX_ECHO], list(constants.REVISIONS))


def encode_era_error(id: RequestId | None, exc: ProtocolError, headers: Headers) -> bytes:
    """Encode the response that carries an error, in the form of the revision that headers name."""
    revision = "" if headers is None else (headers.get(PROTOCOL_VERSION_HEADER) or "").strip(" \t")
    null_id = not _REVISION.fullmatch(revision) or revision < constants.FIRST_REVISION_WITHOUT_NULL
    return encode_error(id, exc, null_id=null_id)
