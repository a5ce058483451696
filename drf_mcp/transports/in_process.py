"""A client that calls tools in this process, on behalf of a user."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import drf_mcp
from drf_mcp.envelopes import Envelope
from drf_mcp.interaction.exchange import Channel
from drf_mcp.protocol.constants import (
    CLIENT_CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    PROTOCOL_VERSION_HEADER,
    PROTOCOL_VERSION_KEY,
    STATELESS_REVISION,
)
from drf_mcp.server import Server
from drf_mcp.settings import chosen_language
from drf_mcp.tools.registry import registry
from drf_mcp.transports.local_endpoint import LocalEndpoint


def make_server(endpoint: LocalEndpoint) -> Server:
    """Return a server that answers as an endpoint does."""
    view = endpoint.make_view(endpoint.make_request())
    server: Server = Server(registry) if view is None else view.get_server()
    return server


@dataclass
class InProcessClient:
    """Sends requests through the pipeline without HTTP."""

    # None for an anonymous caller.
    user: Any = None
    revision: str = STATELESS_REVISION
    # None for the envelopes of the tools.
    envelope_class: type[Envelope] | None = None
    endpoint: LocalEndpoint = field(default_factory=LocalEndpoint)
    # Gets the params of each notification of progress.
    on_progress: Callable[[Mapping[str, Any]], None] | None = None

    def send(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Send one request and return the JSON-RPC response."""
        response: dict[str, Any] = json.loads(self.send_for_bytes(method, params))
        return response

    def send_for_bytes(self, method: str, params: Mapping[str, Any]) -> bytes:
        """Send one request and return the response as it is on the wire."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": dict(params)}
        headers = None
        if self.revision == STATELESS_REVISION:
            message["params"] = {**params, "_meta": {**self.meta, **params.get("_meta", {})}}
        else:
            headers = {PROTOCOL_VERSION_HEADER: self.revision}
        server = make_server(self.endpoint)
        forced = self.envelope_class
        if forced is not None:
            server.force_envelope = lambda envelope_class: forced
        caller = self.endpoint.make_caller(self.user)
        if (tell := self.on_progress) is not None:
            caller.channel = Channel(lambda method, params: tell(params))
        with chosen_language():
            return server.handle_body(json.dumps(message).encode(), headers, caller).body

    @property
    def meta(self) -> dict[str, Any]:
        return {
            PROTOCOL_VERSION_KEY: self.revision,
            CLIENT_INFO_KEY: {"name": "drf_mcp", "version": drf_mcp.__version__},
            CLIENT_CAPABILITIES_KEY: {},
            **({} if self.on_progress is None else {"progressToken": 1}),
        }
