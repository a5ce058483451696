"""The two eras of the protocol behind one interface.

Up to 2025-11-25 a client shakes hands with ``initialize`` and names the revision in a
header from then on; since 2026-07-28 every request carries all that is needed to serve
it (2026-07-28, basic/versioning). `select` picks the era of a message, and nothing
outside this module asks which one it is.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from drf_mcp.exceptions import (
    InvalidParams,
    MethodNotFound,
    ProtocolError,
    UnsupportedProtocolVersion,
)
from drf_mcp.protocol import headers as http_headers
from drf_mcp.protocol import jsonrpc
from drf_mcp.protocol.constants import (
    CACHE_MEMBERS,
    CACHE_TTL,
    CLIENT_CAPABILITIES_KEY,
    CONTENT_TYPES,
    DEFAULT_REVISION,
    FIRST_REVISION_WITHOUT_NULL,
    HANDSHAKE_REVISIONS,
    IMPLEMENTATION_MEMBERS,
    LATEST_HANDSHAKE_REVISION,
    LOG_LEVEL_KEY,
    LOG_LEVELS,
    PROTOCOL_VERSION_HEADER,
    PROTOCOL_VERSION_KEY,
    RESULT_MEMBERS,
    REVISIONS,
    SERVER_INFO_KEY,
    STATELESS_REVISION,
    TOOL_MEMBERS,
)
from drf_mcp.protocol.jsonrpc import Message, RequestId

# How much of the caller's own text an error repeats.
MAX_ECHO = 100
Headers = Mapping[str, str] | None
Names = Mapping[str, str]
Members = Mapping[str, Any]

_REVISION = re.compile(r"\d{4}-\d{2}-\d{2}")


class Era(ABC):
    """How messages of one revision are checked and answered.

    Attributes:
        revision: the revision spoken.
        methods: the methods that every server has, with the members of their results.
        not_found_status: the HTTP status of a method that does not exist.
        serves_batches: True if several messages may come in one body.
        serves_responses: True if a client may post responses.
        repeats_arguments: True if clients repeat arguments in headers that a tool names.
    """

    not_found_status: ClassVar[int]
    serves_responses: ClassVar[bool]
    repeats_arguments: ClassVar[bool] = False

    def __init__(self, revision: str) -> None:
        self.revision = revision
        self.methods = RESULT_MEMBERS[revision]

    @property
    @abstractmethod
    def serves_batches(self) -> bool:
        """True if several messages may come in one body."""

    @abstractmethod
    def validate(self, message: Message, headers: Headers, name_parameters: Names) -> None:
        """Check what every message of the era owes, whatever its method.

        Args:
            message: the message.
            headers: the request's headers, None at a door that has none.
            name_parameters: the parameter that the Mcp-Name header repeats, by method.

        Raises:
            ProtocolError: the message cannot be served.
        """

    def method_not_found(self, method: str) -> MethodNotFound:
        """Return the error for a method that does not exist in this era."""
        return MethodNotFound(method[:MAX_ECHO], http_status=self.not_found_status)

    @abstractmethod
    def finish(
        self, members: Members, defined: frozenset[str], server_info: Members
    ) -> dict[str, Any]:
        """Return the members of a result as the revision wants them.

        Args:
            members: the result's members; a member that the revision does not define
                is left out, so ``structuredContent`` and ``cacheScope`` may always be
                given.
            defined: the members that the revision defines.
            server_info: the server's name and version, an Implementation object.
        """

    @property
    def content_types(self) -> frozenset[str]:
        """The types of content blocks that a tool result may hold."""
        return CONTENT_TYPES[self.revision]

    def tool_members(self, tool: Mapping[str, Any]) -> dict[str, Any]:
        """Return those members of a Tool object that the revision defines."""
        return _defined(tool, TOOL_MEMBERS[self.revision])

    def implementation_members(self, implementation: Mapping[str, Any]) -> dict[str, Any]:
        """Return those members of an Implementation object that the revision defines."""
        return _defined(implementation, IMPLEMENTATION_MEMBERS[self.revision])


class HandshakeEra(Era):
    """2025-03-26, 2025-06-18 and 2025-11-25 (basic/lifecycle, basic/transports)."""

    not_found_status = 200
    serves_responses = True

    @property
    def serves_batches(self) -> bool:
        """True at 2025-03-26 only; the next revision removed batches."""
        return self.revision == "2025-03-26"

    def validate(self, message: Message, headers: Headers, name_parameters: Names) -> None:
        """Check that ``initialize`` names a revision.

        Raises:
            InvalidParams: it does not.
        """
        requested = message.params.get("protocolVersion")
        if message.method == "initialize" and not isinstance(requested, str):
            raise InvalidParams('The params of initialize must name a "protocolVersion".')

    def finish(
        self, members: Members, defined: frozenset[str], server_info: Members
    ) -> dict[str, Any]:
        """Return the members that the revision defines; the era adds none."""
        return _defined(members, defined)

    @staticmethod
    def negotiate(requested: Any) -> str:
        """Return the revision that answers ``initialize`` ("Version Negotiation")."""
        return requested if requested in HANDSHAKE_REVISIONS else LATEST_HANDSHAKE_REVISION


class StatelessEra(Era):
    """2026-07-28 (basic/index, basic/versioning, basic/transports/streamable-http)."""

    not_found_status = 404
    serves_responses = False
    repeats_arguments = True

    @property
    def serves_batches(self) -> bool:
        """False: a body holds one message."""
        return False

    def validate(self, message: Message, headers: Headers, name_parameters: Names) -> None:
        """Check headers, revision and ``_meta``, in this order.

        A client that contradicts itself is told so before it is told that one of the
        revisions it names is not served.

        Raises:
            HeaderMismatch: a header is missing, malformed or differs from the body.
            UnsupportedProtocolVersion: the revision is not this one.
            InvalidParams: a request's ``_meta`` lacks what it must carry, or names a log
                level that does not exist.
        """
        if headers is not None:
            http_headers.check(headers, message, self.revision, name_parameters)
        meta = message.meta
        requested = meta.get(PROTOCOL_VERSION_KEY)
        if isinstance(requested, str) and requested != self.revision:
            raise _unsupported(requested)
        if not message.is_notification:
            _require_meta(meta, PROTOCOL_VERSION_KEY, str, "a string")
            _require_meta(meta, CLIENT_CAPABILITIES_KEY, dict, "an object")
            if LOG_LEVEL_KEY in meta and meta[LOG_LEVEL_KEY] not in LOG_LEVELS:
                levels = ", ".join(LOG_LEVELS)
                raise InvalidParams(f'The member "{LOG_LEVEL_KEY}" must be one of {levels}.')

    def finish(
        self, members: Members, defined: frozenset[str], server_info: Members
    ) -> dict[str, Any]:
        """Add the result's type, who the server is, and how long it may be cached.

        A cacheable result is private to the caller unless ``cacheScope`` says otherwise
        (server/utilities/caching).
        """
        finished = {"resultType": "complete", **_defined(members, defined)}
        finished["_meta"] = {**members.get("_meta", {}), SERVER_INFO_KEY: server_info}
        if defined >= CACHE_MEMBERS:
            finished.setdefault("ttlMs", CACHE_TTL)
            finished.setdefault("cacheScope", "private")
        return finished


_ERAS: Mapping[str, Era] = {
    STATELESS_REVISION: StatelessEra(STATELESS_REVISION),
    **{revision: HandshakeEra(revision) for revision in HANDSHAKE_REVISIONS},
}


def select(message: Message, headers: Mapping[str, str] | None) -> Era:
    """Return the era of a message (basic/versioning, "Backward Compatibility").

    The era of an ``initialize`` has the revision that the handshake settles on.

    Args:
        message: the message.
        headers: the request's headers, None at a door that has none.

    Raises:
        UnsupportedProtocolVersion: the header names a revision that is not served.
        HeaderMismatch: the header is malformed.
    """
    if PROTOCOL_VERSION_KEY in message.meta:
        return _ERAS[STATELESS_REVISION]
    era = select_by_headers(headers)
    if message.method == "initialize" and isinstance(era, HandshakeEra):
        return _ERAS[era.negotiate(message.params.get("protocolVersion"))]
    return era


def select_by_headers(headers: Mapping[str, str] | None) -> Era:
    """Return the era that the headers alone name, for a batch or a client's response.

    Raises:
        UnsupportedProtocolVersion: the header names a revision that is not served.
        HeaderMismatch: the header is malformed.
    """
    if headers is None:
        return _ERAS[LATEST_HANDSHAKE_REVISION]
    revision = http_headers.header_value(headers, PROTOCOL_VERSION_HEADER)
    if revision is None:
        return _ERAS[DEFAULT_REVISION]
    if revision not in _ERAS:
        raise _unsupported(revision)
    return _ERAS[revision]


def error_response(
    id: RequestId | None, exc: ProtocolError, headers: Mapping[str, str] | None
) -> bytes:
    """Encode the response that carries an error, in the form of the revision that headers name.

    Args:
        id: the request's id; None where none could be read.
        exc: the error.
        headers: the request's headers, None at a door that has none.
    """
    revision = "" if headers is None else (headers.get(PROTOCOL_VERSION_HEADER) or "").strip(" \t")
    null_id = not _REVISION.fullmatch(revision) or revision < FIRST_REVISION_WITHOUT_NULL
    return jsonrpc.error(id, exc, null_id=null_id)


def _unsupported(requested: str) -> UnsupportedProtocolVersion:
    return UnsupportedProtocolVersion(requested[:MAX_ECHO], list(REVISIONS))


def _require_meta(meta: Mapping[str, Any], key: str, kind: type, name: str) -> None:
    if key not in meta:
        raise InvalidParams(f'The "_meta" of the params lacks "{key}".')
    if not isinstance(meta[key], kind):
        raise InvalidParams(f'The member "{key}" of "_meta" must be {name}.')


def _defined(members: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if name in names}
