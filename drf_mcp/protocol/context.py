"""The request message that a method gets, and the reply that a door sends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from drf_mcp.exceptions import MissingClientCapability
from drf_mcp.protocol.constants import CLIENT_CAPABILITIES_KEY
from drf_mcp.protocol.eras import Era
from drf_mcp.protocol.headers import RepeatedArguments
from drf_mcp.protocol.jsonrpc import Message


class MessageObserver:
    """Follows one message until it is answered; what it raises changes no answer."""

    def end_call(self, record: Any) -> None:
        """Note that a call is over, with its outcome."""

    def fail(self, exc: Exception) -> None:
        """Note why a message made no call, or why its answer could not be sent."""

    def close(self) -> None:
        """Note that the message is answered, refused or interrupted."""


@dataclass(frozen=True)
class RequestContext:
    """A request message, with what its method needs to answer it."""

    message: Message
    era: Era
    # A `drf_mcp.access.authentication.Caller`.
    caller: Any
    # None at a door without headers.
    headers: Mapping[str, str] | None = None
    # The throttles of the endpoint.
    throttles: Sequence[Any] = ()
    observers: Sequence[MessageObserver] = ()

    @property
    def urlconf(self) -> Any:
        """The URLconf that middleware chose for the request, None for the project's."""
        return getattr(self.caller.request, "urlconf", None)

    def for_params(self, method: str, params: Mapping[str, Any]) -> RequestContext:
        """Return the context of another request of the same caller, with the same ``_meta``."""
        members = {**params, "_meta": self.message.meta}
        return replace(self, message=Message(self.message.id, method, members))

    def for_inner_call(self, name: str, arguments: Any) -> RequestContext:
        """Return the context of a call of a tool that another call of the caller makes.

        The client gets neither its progress nor a task of it, and no header repeats its arguments.
        """
        meta = {n: value for n, value in self.message.meta.items() if n != "progressToken"}
        declared = meta.get(CLIENT_CAPABILITIES_KEY)
        if isinstance(declared, Mapping):
            others = {n: value for n, value in declared.items() if n != "extensions"}
            meta[CLIENT_CAPABILITIES_KEY] = others
        params = {"name": name, "arguments": arguments, "_meta": meta}
        message = Message(self.message.id, "tools/call", params)
        return replace(self, message=message, headers=None)

    def check_capabilities(self, required: Mapping[str, Any]) -> None:
        """Raise MissingClientCapability unless the client declared what is required."""
        declared = self.message.meta.get(CLIENT_CAPABILITIES_KEY)
        if not self.era.asks_for_input or not isinstance(declared, Mapping):
            return
        if missing := {n: options for n, options in required.items() if n not in declared}:
            self.caller.authenticate()
            raise MissingClientCapability(missing)

    def has_extension(self, name: str) -> bool:
        """Return whether the client declared an extension in this request."""
        declared = self.message.meta.get(CLIENT_CAPABILITIES_KEY)
        if not self.era.asks_for_input or not isinstance(declared, Mapping):
            return False
        extensions = declared.get("extensions")
        return isinstance(extensions, Mapping) and isinstance(extensions.get(name), Mapping)

    def check_headers(self, parameters: Mapping[tuple[str, ...], str]) -> None:
        """Raise HeaderMismatch unless the headers that repeat arguments agree with them.

        Args:
            parameters: the name of each header by the path of its argument.
        """
        if parameters and self.era.repeats_arguments and self.headers is not None:
            arguments = self.message.params.get("arguments")
            RepeatedArguments(arguments, parameters).check(self.headers)


@final
@dataclass(frozen=True)
class MessageStream:
    """The result of a request that is answered by several messages, the response last.

    Attributes:
        messages: encoded messages; an empty one keeps the connection open.
    """

    messages: AsyncIterator[bytes]


@dataclass(frozen=True)
class Reply:
    """What a door sends back."""

    status: int
    # One JSON-RPC response, an array of them, or nothing.
    body: bytes = b""
    headers: Mapping[str, str] | None = None
    # In place of the body, at a door that can keep a response open.
    stream: MessageStream | None = None


ACCEPTED = Reply(202)
