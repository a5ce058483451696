"""Endpoints, callers and a client without HTTP: for stdio, commands and checks."""

from __future__ import annotations

import gc
import io
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.cache import close_caches
from django.core.handlers.wsgi import WSGIRequest
from django.db import connections

import drf_mcp
from drf_mcp.access.authentication import Caller, resolve_authentication_classes
from drf_mcp.access.resources import WellKnownConverter
from drf_mcp.envelopes import Envelope
from drf_mcp.interaction.exchange import Channel
from drf_mcp.introspection.source.overrides import forget_trees
from drf_mcp.protocol import ERAS
from drf_mcp.protocol.constants import (
    CLIENT_CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    PROTOCOL_VERSION_HEADER,
    PROTOCOL_VERSION_KEY,
    STATELESS_REVISION,
)
from drf_mcp.routes.registry import registry
from drf_mcp.routes.tool import Tool
from drf_mcp.server import Server
from drf_mcp.settings import mcp_settings

DEFAULT_PATH = "/mcp"


class LocalEndpoint:
    """An endpoint for callers of this process: at a path, or one with the settings alone.

    Args:
        path: the path of the endpoint in the URLconf; None for the settings alone.

    Raises:
        LookupError: if there is no endpoint at the path.
    """

    def __init__(self, path: str | None = None) -> None:
        self.path = path or DEFAULT_PATH
        self.found = WellKnownConverter().find_by_path(path.rstrip("/")) if path else None
        if path and self.found is None:
            raise LookupError(path)

    def _make_view(self, request: Any) -> Any:
        if self.found is None:
            return None
        view = self.found.view
        view.setup(request, *self.found.args, **self.found.kwargs)
        return view

    def make_server(self) -> Server:
        view = self._make_view(self._make_request())
        server: Server = Server(registry) if view is None else view.get_server()
        return server

    @property
    def authentication_classes(self) -> Sequence[Any]:
        own = None if self.found is None else self.found.view.authentication_classes
        return resolve_authentication_classes(own)

    @property
    def authorization_servers(self) -> Sequence[str]:
        if self.found is None:
            return mcp_settings.AUTHORIZATION_SERVERS  # type: ignore[no-any-return]
        return self.found.view.get_authorization_servers()  # type: ignore[no-any-return]

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools of the endpoint by name, for any caller."""
        server = self.make_server()
        every = server.registry.tools(None, server.tool_options)
        return server.registry.narrow(every, self.make_caller().narrowings)

    def make_caller(self, user: Any = None, authorization: str | None = None) -> Caller:
        """Return a caller: a user, who needs no credential, or the sender of a header."""
        request = self._make_request(user, authorization)
        view = self._make_view(request)
        if view is None:
            classes = self.authentication_classes
            return Caller(request, None, classes, mcp_settings.PERMISSION_CLASSES)
        caller = Caller(request, None, view.get_authenticators(), view.get_permissions())
        caller.narrowings += tuple(view.find_narrowings())
        return caller

    def _make_request(self, user: Any = None, authorization: str | None = None) -> Any:
        # ".example.com" allows example.com as well. "*" is no host.
        hosts = [host.removeprefix(".") for host in settings.ALLOWED_HOSTS if host and host != "*"]
        environ = {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": self.path,
            "SCRIPT_NAME": "",
            "SERVER_NAME": hosts[0] if hosts else "localhost",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(),
        }
        if authorization is not None:
            environ["HTTP_AUTHORIZATION"] = authorization
        request = WSGIRequest(environ)
        request.is_mcp_request = True  # type: ignore[attr-defined]
        request.user = AnonymousUser() if user is None else user
        if user is not None:
            # Views authenticate this user, as after `force_authenticate` in tests.
            request._force_auth_user = user  # type: ignore[attr-defined]
        return request


@dataclass
class InProcessClient:
    """Sends requests to a server of this process.

    Attributes:
        user: None for an anonymous caller.
        envelope_class: the envelope of every result; None for the envelopes of the tools.
        on_progress: called with the params of each notification of progress.
    """

    user: Any = None
    envelope_class: type[Envelope] | None = None
    endpoint: LocalEndpoint = field(default_factory=LocalEndpoint)
    revision: str = STATELESS_REVISION
    on_progress: Callable[[Mapping[str, Any]], None] | None = None

    def send(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        response: dict[str, Any] = json.loads(self.send_for_bytes(method, params))
        return response

    def send_for_bytes(self, method: str, params: Mapping[str, Any]) -> bytes:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": dict(params)}
        headers = None
        if self.revision == STATELESS_REVISION:
            message["params"] = {**params, "_meta": {**self.meta, **params.get("_meta", {})}}
        else:
            headers = {PROTOCOL_VERSION_HEADER: self.revision}
        server, caller = self.endpoint.make_server(), self.endpoint.make_caller(self.user)
        if (forced := self.envelope_class) is not None:
            server.force_envelope = lambda envelope_class: forced
        if (tell := self.on_progress) is not None:
            caller.channel = Channel(lambda method, params: tell(params))
        return server.handle_body(json.dumps(message).encode(), headers, caller).body

    @property
    def meta(self) -> dict[str, Any]:
        return {
            PROTOCOL_VERSION_KEY: self.revision,
            CLIENT_INFO_KEY: {"name": "drf_mcp", "version": drf_mcp.__version__},
            CLIENT_CAPABILITIES_KEY: {},
            **({} if self.on_progress is None else {"progressToken": 1}),
        }


@dataclass(frozen=True)
class PreloadedEndpoint:
    """What was described of an endpoint.

    Attributes:
        tools: the number of tools.
        bytes: the size of their definitions in one revision.
        seconds: how long it took.
    """

    path: str
    tools: int
    bytes: int
    seconds: float


def preload() -> list[PreloadedEndpoint]:
    """Describe the tools of every endpoint now, for the processes that are forked afterwards.

    Connections to databases and caches that this thread has opened are closed, so that no two
    processes share one.

    Raises:
        ImproperlyConfigured: if the tools cannot be read off the URLconf.
    """
    found = _describe_endpoints()
    for connection in connections.all(initialized_only=True):
        connection.close()
        # The threads of a pool do not exist in a forked process.
        if hasattr(connection, "close_pool"):
            connection.close_pool()
    close_caches()
    forget_trees()
    # Processes share memory until one writes into it, as the garbage collector does.
    gc.collect()
    gc.freeze()
    return found


def _describe_endpoints() -> list[PreloadedEndpoint]:
    """Describe the tools of every endpoint of the URLconf; without any, the tools of stdio."""
    every = [LocalEndpoint(found.path) for found in WellKnownConverter().find_every()]
    described = []
    for endpoint in every or [LocalEndpoint()]:
        started = time.perf_counter()
        server, tools, size = endpoint.make_server(), endpoint.tools, 0
        get = server.tools_capability.get_definition
        for tool in tools.values():
            size += max(len(get(tool, era)) for era in ERAS.values())
        seconds = round(time.perf_counter() - started, 3)
        described.append(PreloadedEndpoint(endpoint.path, len(tools), size, seconds))
    return described
