"""The server: reads a message, has a capability answer it, and writes the response."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

from django.utils.encoding import force_str
from django.utils.functional import cached_property
from rest_framework.exceptions import APIException

import drf_mcp
from drf_mcp.access.authentication import Caller
from drf_mcp.calls.capability import ToolsCapability as ToolsCapability
from drf_mcp.dispatch.failures import report_unexpected
from drf_mcp.envelopes import Envelope
from drf_mcp.exceptions import InvalidRequest, ProtocolError, catch
from drf_mcp.interaction.exchange import Slot
from drf_mcp.observability.records import log_refusal, open_observers, trace_message
from drf_mcp.option_types.installed import features
from drf_mcp.outcomes import Outcome
from drf_mcp.protocol import (
    REVISIONS,
    Capability,
    ClientResponse,
    Era,
    HandshakeEra,
    Message,
    encode_era_error,
    join_name_parameters,
    jsonrpc,
    select_by_headers,
    select_era,
)
from drf_mcp.protocol.capability import ACCEPTED as ACCEPTED
from drf_mcp.protocol.capability import MessageObserver, MessageStream, RequestContext
from drf_mcp.protocol.capability import Reply as Reply
from drf_mcp.protocol.eras import Unfinished
from drf_mcp.routes.registry import Registry
from drf_mcp.settings import mcp_settings, override_language

Handler = Callable[[RequestContext], "Mapping[str, Any] | Unfinished | MessageStream"]
# A message as `jsonrpc` read it, or the error of one that could not be read.
Item = Message | ClientResponse | ProtocolError
Headers = Mapping[str, str] | None


class Server:
    """One MCP endpoint, for HTTP, stdio and calls of this process.

    Attributes:
        capability_classes: what the server offers besides the lifecycle; installed apps bring more.
        force_envelope: takes the envelope class chosen for a tool and returns the class that is
            used in its place; None to use the one chosen. For tests and `mcp_call`.
        name, title, version, instructions: None for SERVER_NAME, SERVER_TITLE, SERVER_VERSION and
            INSTRUCTIONS.
        view: the endpoint's view, None for a server without one.
        view_attributes: the attributes of the endpoint that installed apps bring, by name.
        toolset: the toolset that the URL named, "" for none.
        tool_options: options of every tool that has none of its own by that name.
        is_live: whether the response can be a stream, which is sent while the call runs.

    Args:
        registry: the tools.
        envelope_class: the shape of results; None for ENVELOPE_CLASS.
    """

    capability_classes: ClassVar[Sequence[type[Capability]]] = [ToolsCapability]
    # The handlers of the methods that every server has, where the era has them.
    lifecycle: ClassVar[Mapping[str, str]] = {
        "initialize": "initialize",
        "ping": "ping",
        "server/discover": "discover",
    }
    force_envelope: Callable[[type[Envelope]], type[Envelope]] | None = None
    name: str | None = None
    title: Any = None
    version: str | None = None
    instructions: Any = None
    toolset: str = ""
    tool_options: Mapping[str, Any] | None = None
    view: Any = None
    view_attributes: Mapping[str, Any] = MappingProxyType({})
    is_live: bool = False

    def __init__(self, registry: Registry, envelope_class: type[Envelope] | None = None) -> None:
        self.registry = registry
        self.envelope_class = envelope_class
        self.all_capability_classes: tuple[type[Capability], ...] = (
            *self.capability_classes,
            *features.capability_classes,
        )
        self.opened_capabilities: dict[type[Capability], Capability] = {}

    def get_throttles(self) -> Sequence[Any]:
        """Return what decides how often tools may be called, made anew for each message."""
        if self.view is None:
            return [made() for made in mcp_settings.THROTTLE_CLASSES or ()]
        throttles: Sequence[Any] = self.view.get_throttles()
        return throttles

    def get_server_info(self) -> dict[str, Any]:
        """Return the server's Implementation object: its name, version and title."""
        # The names of two toolsets in one client have to differ.
        of = f"-{self.toolset}" if self.toolset else ""
        info = {
            "name": f"{self.name or mcp_settings.SERVER_NAME}{of}",
            "version": self.version or mcp_settings.SERVER_VERSION or drf_mcp.__version__,
        }
        if title := self.title or mcp_settings.SERVER_TITLE:
            info["title"] = f"{title}: {self.toolset}" if of else f"{title}"
        return info

    def describe_server(self) -> dict[str, Any]:
        """Return the server's Implementation object for ``initialize`` and ``server/discover``."""
        described = {**self.get_server_info(), **mcp_settings.SERVER_INFO}
        if "description" in described:
            described["description"] = force_str(described["description"])
        return described

    @override_language()
    def get_instructions(self, context: RequestContext) -> str:
        """Return the text that guides models in using the server, "" for none.

        Without INSTRUCTIONS, the capabilities write the text for the caller.
        """
        for own in (self.instructions, mcp_settings.INSTRUCTIONS):
            if own is not None:
                return force_str(own)
        return "\n".join(filter(None, (c.get_instructions(context) for c in self.capabilities)))

    @cached_property
    def capabilities(self) -> Sequence[Capability]:
        """The capabilities of the server's own classes, then of installed apps."""
        return [self._open_capability(each) for each in self.all_capability_classes]

    def _open_capability(self, capability_class: type[Capability]) -> Capability:
        # One object of each class, made when it is needed: a call of a tool needs only one.
        if capability_class not in self.opened_capabilities:
            self.opened_capabilities[capability_class] = capability_class(self)
        return self.opened_capabilities[capability_class]

    @property
    def tools_capability(self) -> ToolsCapability:
        """The capability of the tools. Other capabilities offer no tool that it does not offer."""
        return self.find_capability("tools") or ToolsCapability(self)

    def find_capability(self, name: str) -> Any:
        """Return the capability of that name, None if the server has none."""
        return next((each for each in self.capabilities if each.name == name), None)

    def handle_body(self, body: bytes, headers: Headers, caller: Caller) -> Reply:
        """Answer one HTTP body or one line of a stream.

        One ``tools/call`` on its way:

        1. `MCPView.check_request` and `read_body` check HTTP method, Origin and body size
        2. `jsonrpc.decode` makes a `Message` of the bytes
        3. `select_era` finds the `Era`, which validates headers and ``_meta``
        4. `_find_handler` finds the capability of the method: `ToolsCapability.call_tool`
        5. the capability finds the `Tool`; `CallState.bound` binds the arguments to a `Call`
        6. `Dispatcher.dispatch` runs the guards and the route's own callback: an `Outcome`
        7. `ResultWriter.write` writes the outcome in its `Envelope`, encoded once; if that is
           longer than the `ToolBudget` allows, the outcome is shortened first
        8. `Era.write` finishes the result, and `jsonrpc.encode_result` writes the response

        From stage 6 on a failure is an outcome with a `Failure`. Before, it is a `ProtocolError`,
        or the APIException of a caller whom the endpoint refuses: see `get_error`.

        Args:
            body: the bytes of a JSON-RPC message.
            headers: the request's headers; None without HTTP.
            caller: who is calling.

        Raises:
            APIException: if the endpoint refuses the caller.
        """
        decoded: Item
        try:
            decoded = jsonrpc.decode(body)
        except ProtocolError as exc:
            decoded = exc
        return self.handle_message(decoded, headers, caller)

    def handle_message(self, item: Item, headers: Headers, caller: Caller) -> Reply:
        """Answer one message. An exception becomes its answer."""
        observers = open_observers(item, caller)
        try:
            with catch() as caught:
                return self.dispatch(item, headers, caller, observers)
            error = self.get_error(caught.exception, item, caller)
            for observer in observers:
                observer.fail(error)
        finally:
            for observer in observers:
                observer.close()
        if isinstance(error, APIException):
            raise error
        return self.error_response(item, error, headers)

    def get_error(self, exc: Exception, item: Item, caller: Caller) -> ProtocolError | APIException:
        """Return the error that answers an exception; an APIException refuses the caller.

        This is the one place where an exception becomes a JSON-RPC error.
        """
        if isinstance(exc, ProtocolError):
            log_refusal(item, exc)
            # A caller whom the endpoint refuses gets 401 and does not learn of the error.
            with catch() as caught:
                caller.authenticate()
                return exc
            exc = caught.exception
        return exc if isinstance(exc, APIException) else report_unexpected(exc, caller.request)

    def error_response(self, item: Item, exc: ProtocolError, headers: Headers) -> Reply:
        if isinstance(item, Message) and item.is_notification:
            return Reply(exc.http_status)
        return Reply(exc.http_status, encode_era_error(item.id, exc, headers), exc.headers)

    def dispatch(
        self,
        item: Item,
        headers: Headers,
        caller: Caller,
        observers: Sequence[MessageObserver] = (),
    ) -> Reply:
        if isinstance(item, ProtocolError):
            raise item
        if isinstance(item, ClientResponse):
            era = select_by_headers(headers)
            if not era.serves_responses:
                raise InvalidRequest("A client sends requests and notifications, not responses.")
            caller.authenticate()
        else:
            era = select_era(item, headers)
            era.validate(item, headers, join_name_parameters(self.all_capability_classes))
        for receive in features.hooks["receive"]:
            receive(item, era, headers, caller)
        if isinstance(item, ClientResponse):
            return ACCEPTED
        if item.id is None:
            caller.authenticate()
            return ACCEPTED
        handler, defined = self._find_handler(item.method, era)
        context = RequestContext(item, era, caller, headers, self.get_throttles(), observers)
        with trace_message(context, self.registry):
            result = handler(context)
        # The class is final, and `isinstance` would call a function.
        if type(result) is MessageStream:
            return Reply(200, stream=result)
        discovers = item.method == "server/discover"
        info = self.describe_server() if discovers else self.get_server_info()
        info = era.implementation_members(info)
        body = jsonrpc.encode_result(item.id, era.write(result, defined, info))
        if item.method == "initialize":
            return Reply(200, body, self.get_session_headers(context))
        return Reply(200, body)

    def call_within(
        self,
        context: RequestContext,
        name: str,
        arguments: Any,
        slots: Mapping[Slot[Any], Any] | None = None,
    ) -> Outcome:
        """Call a tool from within another call, and return the outcome.

        The inner call has its own guards, throttles, observers and log record. Its outcome is not
        shortened, its questions do not reach the client, and it does not become a task.

        Args:
            context: the request of the outer call.
            name: the tool.
            arguments: the arguments of the tool.
            slots: values of the inner call for slots of features.

        Raises:
            ProtocolError: if there is no such tool, or the client lacks a required capability.
            APIException: if the endpoint refuses the caller.
        """
        inner = context.for_inner_call(name, arguments)
        observers = open_observers(inner.message, context.caller)
        inner = replace(inner, throttles=self.get_throttles(), observers=observers)
        try:
            with catch() as caught, trace_message(inner, self.registry):
                return self.tools_capability.call_within(inner, slots or {})
            for observer in observers:
                observer.fail(caught.exception)
            raise caught.exception
        finally:
            for observer in observers:
                observer.close()

    def _find_handler(self, method: str, era: Era) -> tuple[Handler, frozenset[str]]:
        if method in era.methods:
            return getattr(self, self.lifecycle[method]), era.methods[method]
        for capability_class in self.all_capability_classes:
            if method not in capability_class.methods:
                continue
            capability = self._open_capability(capability_class)
            defined = capability.get_result_members(method, era)
            if defined is not None:
                return getattr(capability, capability.methods[method]), defined
        raise era.method_not_found(method)

    def initialize(self, context: RequestContext) -> dict[str, Any]:
        # 2025-11-25, basic/lifecycle.
        context.caller.authenticate()
        era, offer = context.era, self._make_offer(context)
        info = era.implementation_members(self.describe_server())
        revision = HandshakeEra.negotiate(context.message.params["protocolVersion"])
        return {"protocolVersion": revision, "serverInfo": info, **offer}

    def get_session_headers(self, context: RequestContext) -> dict[str, str]:
        headers: dict[str, str] = {}
        for get_headers in features.hooks["get_session_headers"]:
            headers.update(get_headers(context))
        return headers

    def ping(self, context: RequestContext) -> dict[str, Any]:
        # 2025-11-25, basic/utilities/ping.
        context.caller.authenticate()
        return {}

    def discover(self, context: RequestContext) -> dict[str, Any]:
        # 2026-07-28, server/discover.
        context.caller.authenticate()
        return {"supportedVersions": list(REVISIONS), **self._make_offer(context)}

    def _make_offer(self, context: RequestContext) -> dict[str, Any]:
        offer: dict[str, Any] = {"capabilities": self.find_offered(context.era)}
        if instructions := self.get_instructions(context):
            offer["instructions"] = instructions
        return offer

    def find_offered(self, era: Era) -> dict[str, Any]:
        offered: dict[str, Any] = {}
        for capability in sorted(self.capabilities, key=lambda each: each.annotates):
            capability.advertise(era, offered)
        return offered
