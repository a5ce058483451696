"""The door of this process: calls that come in without HTTP, on behalf of a user."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.handlers.wsgi import WSGIRequest

import drf_mcp
from drf_mcp.access.authentication import Caller, resolve_authentication_classes
from drf_mcp.envelopes import Envelope
from drf_mcp.protocol.constants import (
    CLIENT_CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    PROTOCOL_VERSION_HEADER,
    PROTOCOL_VERSION_KEY,
    STATELESS_REVISION,
)
from drf_mcp.server import Server
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.registry import registry


def make_local_caller(user: Any = None, authorization: str | None = None) -> Caller:
    """Return a caller at the endpoint as the settings have it.

    A user needs no credential; with None, the Authorization header says who is calling.
    """
    # ".example.com" allows example.com itself, and "*" any host.
    hosts = [host.removeprefix(".") for host in settings.ALLOWED_HOSTS if host != "*"]
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/mcp",
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
    request.user = AnonymousUser() if user is None else user
    if user is not None:
        # As `force_authenticate` of REST framework's tests tells a view's authentication.
        request._force_auth_user = user  # type: ignore[attr-defined]
    classes = resolve_authentication_classes()
    return Caller(request, None, classes, mcp_settings.PERMISSION_CLASSES)


class InProcessClient:
    """Sends requests through the pipeline without HTTP.

    A user of None is an anonymous caller, an envelope class of None the tools' own.
    """

    def __init__(
        self,
        user: Any = None,
        *,
        revision: str = STATELESS_REVISION,
        envelope_class: type[Envelope] | None = None,
    ) -> None:
        self.user = user
        self.revision = revision
        self.envelope_class = envelope_class

    def send(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Send one request and return the JSON-RPC response.

        Raises:
            APIException: if the endpoint lets no such caller in.
        """
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
        server = Server(registry)
        forced = self.envelope_class
        if forced is not None:
            server.force_envelope = lambda chosen: forced
        caller = make_local_caller(self.user)
        return server.answer(json.dumps(message).encode(), headers, caller).body

    @property
    def meta(self) -> dict[str, Any]:
        return {
            PROTOCOL_VERSION_KEY: self.revision,
            CLIENT_INFO_KEY: {"name": "drf_mcp", "version": drf_mcp.__version__},
            CLIENT_CAPABILITIES_KEY: {},
        }
