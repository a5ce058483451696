"""The door of this process: calls that come in without HTTP, on behalf of a user."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import drf_mcp
from drf_mcp.envelopes import Envelope
from drf_mcp.interaction.progress import Channel
from drf_mcp.protocol.constants import (
    CLIENT_CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    PROTOCOL_VERSION_HEADER,
    PROTOCOL_VERSION_KEY,
    STATELESS_REVISION,
)
from drf_mcp.server import Server
from drf_mcp.tools.registry import Registry, registry
from drf_mcp.tools.tool import Tool
from drf_mcp.transports.local_caller import LocalEndpoint


class ServedEndpoint(LocalEndpoint):
    """An endpoint with its tools and its server, which answers in this process."""

    @property
    def registry(self) -> Registry:
        own: Registry = registry if self.found is None else self.found.view.registry
        return own

    @property
    def tool_options(self) -> Mapping[str, Any] | None:
        """The options that the endpoint sets of all of its tools."""
        return None if self.found is None else self.found.view.tool_options

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools that the endpoint leaves, whoever calls.

        Raises:
            Refused: if the path names no toolset.
        """
        return self.narrow(self.registry, self.tool_options)

    def make_server(self) -> Server:
        """Return a server that answers as the endpoint does."""
        server: Server = Server(registry) if self.found is None else super().make_server()
        return server


@dataclass
class InProcessClient:
    """Sends requests through the pipeline without HTTP."""

    # None for an anonymous caller.
    user: Any = None
    revision: str = STATELESS_REVISION
    # None for the tools' own.
    envelope_class: type[Envelope] | None = None
    endpoint: ServedEndpoint = field(default_factory=ServedEndpoint)
    # Takes the params of each notification of progress; None for nobody who is told.
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
        server = self.endpoint.make_server()
        forced = self.envelope_class
        if forced is not None:
            server.force_envelope = lambda envelope_class: forced
        caller = self.endpoint.make_caller(self.user)
        if (tell := self.on_progress) is not None:
            caller.channel = Channel(lambda method, params: tell(params))
        return server.answer(json.dumps(message).encode(), headers, caller).body

    @property
    def meta(self) -> dict[str, Any]:
        return {
            PROTOCOL_VERSION_KEY: self.revision,
            CLIENT_INFO_KEY: {"name": "drf_mcp", "version": drf_mcp.__version__},
            CLIENT_CAPABILITIES_KEY: {},
            **({} if self.on_progress is None else {"progressToken": 1}),
        }
