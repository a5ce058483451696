"""The capabilities of a server, and the context in which they answer a message."""

from __future__ import annotations

import base64
import binascii
import functools
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar, final

from drf_mcp.exceptions import InvalidParams, MissingClientCapability
from drf_mcp.protocol.constants import CLIENT_CAPABILITIES_KEY, CLIENT_INFO_KEY, STATELESS_REVISION
from drf_mcp.protocol.eras import ERAS, Era, Repeated, check_arguments
from drf_mcp.protocol.jsonrpc import Message

Item = TypeVar("Item")


class Capability:
    """One capability of a server: its methods, and their place in the protocol.

    A subclass listed in `Server.capability_classes` is advertised and served in each revision
    that `result_members` names. A handler gets a `RequestContext`, has the caller authenticated,
    and returns the members of the result.

    Attributes:
        name: the member of the capabilities object that advertises the capability.
        is_extension: whether it is an extension, advertised among the others.
        annotates: whether it adds to what other capabilities advertise, and so comes after them.
        methods: the name of the handler by MCP method.
        name_parameters: the member of ``params`` that the Mcp-Name header repeats, by method.
        result_members: the members of each result by revision and method. A method without an
            entry does not exist in the revision. A result with ``ttlMs`` may be cached.
    """

    name: ClassVar[str]
    is_extension: ClassVar[bool] = False
    annotates: ClassVar[bool] = False
    methods: ClassVar[Mapping[str, str]] = {}
    name_parameters: ClassVar[Mapping[str, str]] = {}
    result_members: ClassVar[Mapping[str, Mapping[str, frozenset[str]]]] = {}

    def __init__(self, server: Any) -> None:
        self.server = server

    @property
    def is_on(self) -> bool:
        """Whether the server offers the capability."""
        return True

    def get_capability_object(self, era: Era) -> Mapping[str, Any] | None:
        """Return the options that are advertised to clients; None to advertise nothing."""
        return {} if self.is_on and era.revision in self.result_members else None

    def advertise(self, era: Era, capabilities: dict[str, Any]) -> None:
        """Add the capability to the capabilities object."""
        options = self.get_capability_object(era)
        if options is not None:
            place = capabilities.setdefault("extensions", {}) if self.is_extension else capabilities
            place[self.name] = options

    def get_instructions(self, context: Any) -> str:
        """Return a text about the capability for the instructions of the server, or "".

        Args:
            context: the `RequestContext` of the message.
        """
        return ""

    def get_result_members(self, method: str, era: Era) -> frozenset[str] | None:
        """Return the members of a method's result; None where there is no such method."""
        if method not in self.methods or not self.is_on:
            return None
        return self.result_members.get(era.revision, {}).get(method)


@functools.lru_cache(maxsize=16)
def join_name_parameters(capability_classes: tuple[type[Capability], ...]) -> Mapping[str, str]:
    return {k: v for each in capability_classes for k, v in each.name_parameters.items()}


class MessageObserver:
    """Follows one message until it is answered; what it raises changes no answer."""

    def end_call(self, record: Any) -> None:
        """Note the `CallRecord` of a call that is over."""

    def fail(self, exc: Exception) -> None:
        """Note why a message made no call, or why its answer could not be sent."""

    def close(self) -> None:
        """Note that the message is answered, refused or interrupted."""


@dataclass
class RequestContext:
    """A request message, with what a capability needs to answer it.

    Attributes:
        caller: a `drf_mcp.access.authentication.Caller`.
        headers: the HTTP headers, None without HTTP.
        throttles: the throttles of the endpoint.
        is_inner: whether another call makes this call, whose result is not written.
    """

    message: Message
    era: Era
    caller: Any
    headers: Mapping[str, str] | None = None
    throttles: Sequence[Any] = ()
    observers: Sequence[MessageObserver] = ()
    is_inner: bool = False

    @classmethod
    def of_list(cls, caller: Any) -> RequestContext:
        """Return the context in which a caller would list the tools, without a message."""
        return cls(Message(None, "tools/list"), ERAS[STATELESS_REVISION], caller)

    @property
    def urlconf(self) -> Any:
        return getattr(self.caller.request, "urlconf", None)

    def for_params(self, method: str, params: Mapping[str, Any]) -> RequestContext:
        """Return the context of another message with the same ``_meta``."""
        members = {**params, "_meta": self.message.meta}
        return replace(self, message=Message(self.message.id, method, members))

    def for_inner_call(self, name: str, arguments: Any) -> RequestContext:
        """Return the context of a call that this call makes."""
        meta = {n: value for n, value in self.message.meta.items() if n != "progressToken"}
        declared = meta.get(CLIENT_CAPABILITIES_KEY)
        if isinstance(declared, Mapping):
            others = {n: value for n, value in declared.items() if n != "extensions"}
            meta[CLIENT_CAPABILITIES_KEY] = others
        params = {"name": name, "arguments": arguments, "_meta": meta}
        message = Message(self.message.id, "tools/call", params)
        return replace(self, message=message, headers=None, is_inner=True)

    @property
    def client_name(self) -> str:
        """What the client calls itself in this request, "" in another era."""
        info = self.message.meta.get(CLIENT_INFO_KEY) if self.era.asks_for_input else None
        name = info.get("name") if isinstance(info, Mapping) else None
        return name if isinstance(name, str) else ""

    @property
    def _declared(self) -> Mapping[str, Any] | None:
        """The capabilities that the client declared in this request, None in another era."""
        declared = self.message.meta.get(CLIENT_CAPABILITIES_KEY)
        return declared if self.era.asks_for_input and isinstance(declared, Mapping) else None

    def check_capabilities(self, required: Mapping[str, Any]) -> None:
        """Raise MissingClientCapability unless the client declared what is required."""
        declared = self._declared
        if declared is None:
            return
        if missing := {n: options for n, options in required.items() if n not in declared}:
            self.caller.authenticate()
            raise MissingClientCapability(missing)

    def has_extension(self, name: str) -> bool:
        extensions = (self._declared or {}).get("extensions")
        return isinstance(extensions, Mapping) and isinstance(extensions.get(name), Mapping)

    def cut_page(
        self,
        items: Sequence[Item],
        size: int | None,
        key: Callable[[Item], str],
        see: Callable[[int, int | None], Sequence[Item]] | None = None,
    ) -> tuple[Sequence[Item], str | None]:
        """Return the page of a list that the message asks for, and the cursor of the next page
        (server/utilities/pagination).

        Args:
            key: returns what identifies an item.
            see: gets the index of the first item and the most items, and returns the items that
                the caller sees; None if the caller sees all.
        """
        start, cursor = 0, self.message.params.get("cursor")
        if cursor is not None:
            try:
                start = list(map(key, items)).index(base64.urlsafe_b64decode(cursor).decode()) + 1
            except (TypeError, ValueError, binascii.Error):
                raise InvalidParams("Invalid cursor.") from None
        most = None if size is None else size + 1
        seen = items[start:][:most] if see is None else see(start, most)
        if size is None or len(seen) <= size:
            return seen, None
        return seen[:size], base64.urlsafe_b64encode(key(seen[size - 1]).encode()).decode()

    def check_headers(self, parameters: Repeated) -> None:
        """Raise HeaderMismatch unless the headers that repeat arguments agree with them."""
        if parameters and self.era.repeats_arguments and self.headers is not None:
            check_arguments(self.headers, self.message.params.get("arguments"), parameters)


@final
@dataclass(frozen=True)
class MessageStream:
    """The result of a request that is answered by several messages, the response last."""

    messages: AsyncIterator[bytes]


@dataclass
class Reply:
    """What answers an HTTP body or a line of stdio.

    Attributes:
        status: the HTTP status.
        body: a JSON-RPC response, an array of responses, or nothing.
        stream: messages instead of the body, where a response can be a stream.
    """

    status: int
    body: bytes = b""
    headers: Mapping[str, str] | None = None
    stream: MessageStream | None = None


ACCEPTED = Reply(202)
