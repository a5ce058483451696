"""The pipeline: the bytes of a message in, the bytes of its answer out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.utils.encoding import force_str
from rest_framework.exceptions import APIException

import drf_mcp
from drf_mcp.access.authentication import Caller
from drf_mcp.dispatch.dispatcher import Dispatcher, close_broken_connections, unexpected
from drf_mcp.dispatch.encoding import AnswerEncoder
from drf_mcp.envelopes import Envelope, parse_own_envelope
from drf_mcp.exceptions import InvalidParams, InvalidRequest, ProtocolError, contain
from drf_mcp.observability.logging import log_refusal, observe, traced
from drf_mcp.observability.records import RequestContext
from drf_mcp.protocol import (
    REVISIONS,
    ClientResponse,
    Encoded,
    Message,
    error_response,
    jsonrpc,
    select,
    select_by_headers,
)
from drf_mcp.settings import mcp_settings
from drf_mcp.tools import Registry, Tool
from drf_mcp.tools.budget import ToolBudget
from drf_mcp.tools.listing import definition, is_public, page_of
from drf_mcp.tools.results import explained, make_envelope, tool_result
from drf_mcp.tools.visibility import Visibility


@dataclass(frozen=True)
class Reply:
    """What a door sends back.

    Attributes:
        status: the HTTP status.
        body: one JSON-RPC response, or an array of them; empty when nothing is due.
    """

    status: int
    body: bytes = b""


ACCEPTED = Reply(202)


class Server:
    """One MCP endpoint, whichever door leads to it.

    Args:
        registry: the tools.
        envelope_class: the shape of results; None for ENVELOPE_CLASS.
    """

    def __init__(self, registry: Registry, envelope_class: type[Envelope] | None = None) -> None:
        self.registry = registry
        self.envelope_class = envelope_class

    def answer(self, body: bytes, headers: Mapping[str, str] | None, caller: Caller) -> Reply:
        """Answer one HTTP body or one line of a stream.

        One ``tools/call`` on its way:

        1. the door checks HTTP method, Origin and body size
        2. `jsonrpc.decode` makes a message of the bytes
        3. `select` finds the era, which checks headers and ``_meta``
        4. `METHODS` names the method's handler
        5. the registry finds the tool, which binds the arguments to a `Call`
        6. the `Dispatcher` runs the URL's own callback: an `Outcome`
        7. the envelope gives the outcome its shape, encoded once; if that is longer than
           the `Budget` allows, the outcome is shortened first
        8. the era finishes the result, and the response is written

        Args:
            body: the bytes of a JSON-RPC message or batch.
            headers: the request's headers; None at a door that has none.
            caller: who is calling.

        Raises:
            APIException: if the caller is not let in.
        """
        try:
            decoded = jsonrpc.decode(body, mcp_settings.MAX_BATCH_MESSAGES)
        except ProtocolError as exc:
            return self.respond(exc, headers, caller)
        if isinstance(decoded, list):
            return self.answer_batch(decoded, headers, caller)
        return self.respond(decoded, headers, caller)

    def answer_batch(
        self,
        items: list[Message | ClientResponse | ProtocolError],
        headers: Mapping[str, str] | None,
        caller: Caller,
    ) -> Reply:
        """Answer a batch, where the revision has them (2025-03-26, basic/transports)."""
        refused = InvalidRequest("This revision has no batches: send one message per request.")
        try:
            serves_batches = select_by_headers(headers).serves_batches
        except ProtocolError as exc:
            return self.respond(exc, headers, caller)
        if not serves_batches:
            return self.respond(refused, headers, caller)
        caller.authenticate()
        bodies = []
        for item in items:
            bodies.append(self.respond(self.in_batch(item), headers, caller).body)
            close_broken_connections()
        return Reply(200, jsonrpc.batch(filter(None, bodies))) if any(bodies) else ACCEPTED

    def in_batch(
        self, item: Message | ClientResponse | ProtocolError
    ) -> Message | ClientResponse | ProtocolError:
        """Return the item, or the error of one that has no place in a batch."""
        if isinstance(item, Message) and item.method == "initialize":
            error = InvalidRequest("initialize cannot be part of a batch.")
            error.id = item.id
            return error
        return item

    def respond(
        self,
        item: Message | ClientResponse | ProtocolError,
        headers: Mapping[str, str] | None,
        caller: Caller,
    ) -> Reply:
        """Answer one message, whatever happens: no exception costs a batch its other answers.

        Raises:
            APIException: if the caller is not let in.
        """

        def broken(exc: Exception) -> Reply:
            if isinstance(exc, APIException):
                raise exc
            return self.refuse(item, unexpected(exc, caller.request), headers)

        return contain(partial(self.attend, item, headers, caller), broken)

    def attend(
        self,
        item: Message | ClientResponse | ProtocolError,
        headers: Mapping[str, str] | None,
        caller: Caller,
    ) -> Reply:
        """Answer one message: here a `ProtocolError` becomes a JSON-RPC error."""
        try:
            if isinstance(item, ProtocolError):
                raise item
            return self.serve(item, headers, caller)
        except ProtocolError as exc:
            log_refusal(item, exc)
            caller.authenticate()
            return self.refuse(item, exc, headers)

    def refuse(
        self,
        item: Message | ClientResponse | ProtocolError,
        exc: ProtocolError,
        headers: Mapping[str, str] | None,
    ) -> Reply:
        """Return the error that answers a message; a notification gets the status alone."""
        if isinstance(item, Message) and item.is_notification:
            return Reply(exc.http_status)
        return Reply(exc.http_status, error_response(item.id, exc, headers))

    def serve(
        self, item: Message | ClientResponse, headers: Mapping[str, str] | None, caller: Caller
    ) -> Reply:
        """Serve one message in its era.

        Raises:
            ProtocolError: if the message cannot be served.
        """
        if isinstance(item, ClientResponse):
            if not select_by_headers(headers).serves_responses:
                raise InvalidRequest("A client sends requests and notifications, not responses.")
            caller.authenticate()
            return ACCEPTED
        era = select(item, headers)
        era.validate(item, headers)
        if item.is_notification:
            caller.authenticate()
            return ACCEPTED
        era.require(item.method)
        exchange = RequestContext(item, era, caller, headers)
        with traced(exchange, self.registry):
            members = METHODS[item.method](self, exchange)
        info = era.implementation_members(server_info())
        return Reply(200, jsonrpc.result(item.id, era.finish(item.method, members, info)))

    def initialize(self, exchange: RequestContext) -> dict[str, Any]:
        """Answer ``initialize`` (2025-11-25, basic/lifecycle)."""
        exchange.caller.authenticate()
        info = exchange.era.implementation_members(server_info())
        return {
            "protocolVersion": exchange.era.revision,
            "capabilities": {"tools": {}},
            "serverInfo": info,
            **instructions(),
        }

    def ping(self, exchange: RequestContext) -> dict[str, Any]:
        """Answer ``ping`` (2025-11-25, basic/utilities/ping)."""
        exchange.caller.authenticate()
        return {}

    def discover(self, exchange: RequestContext) -> dict[str, Any]:
        """Answer ``server/discover`` (2026-07-28, server/discover)."""
        exchange.caller.authenticate()
        return {
            "supportedVersions": list(REVISIONS),
            "capabilities": {"tools": {}},
            **instructions(),
        }

    def list_tools(self, exchange: RequestContext) -> dict[str, Any]:
        """Answer ``tools/list``: the tools this caller may call (server/tools)."""
        every = list(self.registry.tools(exchange.urlconf).values())
        page, following = page_of(
            every, exchange.message.params.get("cursor"), Visibility(exchange.caller)
        )
        fragments = (definition(t, self.envelope_of(t), exchange.era) for t in page)
        members: dict[str, Any] = {"tools": Encoded(b"[%b]" % b",".join(fragments))}
        if following is not None:
            members["nextCursor"] = following
        if is_public(exchange.caller, every):
            members["cacheScope"] = "public"
        return members

    def call_tool(self, exchange: RequestContext) -> dict[str, Any]:
        """Answer ``tools/call`` (server/tools, "Calling Tools")."""
        params = exchange.message.params
        name = params.get("name")
        if not isinstance(name, str):
            raise InvalidParams('The params of tools/call must name a tool: "name", a string.')
        tool = self.registry.tool(name, exchange.urlconf)
        exchange.check_headers(tool)
        started = time.perf_counter()
        arguments, dispatcher = params.get("arguments"), Dispatcher(parse_own_envelope)
        outcome = dispatcher.dispatch(tool, arguments, exchange.caller)
        budget = ToolBudget(tool, arguments, exchange.caller, self.registry)
        envelope, encoder = make_envelope(self.envelope_of(tool)), AnswerEncoder()

        def unwritable(exc: Exception) -> dict[str, Any]:
            nonlocal outcome
            request_id = outcome.request_id
            failure = dispatcher.get_crash_outcome(tool, exchange.caller.request, exc, request_id)
            outcome = explained(failure, outcome, encoder, exc)
            return tool_result(outcome, envelope, exchange.era, AnswerEncoder())

        result = contain(
            lambda: tool_result(outcome, envelope, exchange.era, encoder, budget), unwritable
        )
        observe(tool, outcome, result, exchange, started)
        return result

    def envelope_of(self, tool: Tool) -> type[Envelope]:
        """Return the envelope class of a tool's results: its own, the endpoint's, the project's."""
        chosen: type[Envelope] = (
            tool.options.envelope_class or self.envelope_class or mcp_settings.ENVELOPE_CLASS
        )
        return chosen


METHODS: dict[str, Callable[[Server, RequestContext], dict[str, Any]]] = {
    "initialize": Server.initialize,
    "ping": Server.ping,
    "server/discover": Server.discover,
    "tools/list": Server.list_tools,
    "tools/call": Server.call_tool,
}


def server_info() -> dict[str, Any]:
    """Return the server's Implementation object."""
    info = {
        "name": mcp_settings.SERVER_NAME,
        "version": mcp_settings.SERVER_VERSION or drf_mcp.__version__,
    }
    if mcp_settings.SERVER_TITLE:
        info["title"] = force_str(mcp_settings.SERVER_TITLE)
    return info


def instructions() -> dict[str, str]:
    """Return the member that guides the model, if there is one."""
    text = mcp_settings.INSTRUCTIONS
    return {"instructions": force_str(text)} if text else {}
