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
from drf_mcp.tools import registry


def local_request(user: Any = None, authorization: str | None = None) -> WSGIRequest:
    """Return a request like one to the endpoint.

    A user is taken at the operator's word: the views' authentication is told whom it
    found, the way ``force_authenticate`` tells it in REST framework's tests.

    Args:
        user: on whose behalf; None for whoever the credentials name.
        authorization: the Authorization header, None for none.
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
        request._force_auth_user = user  # type: ignore[attr-defined]
    return request


def local_caller(user: Any = None, authorization: str | None = None) -> Caller:
    """Return a caller at the endpoint as the settings have it; see `local_request`."""
    request = local_request(user, authorization)
    classes = resolve_authentication_classes()
    return Caller(request, None, classes, mcp_settings.PERMISSION_CLASSES)


def send(
    method: str,
    params: Mapping[str, Any],
    user: Any = None,
    *,
    revision: str = STATELESS_REVISION,
    envelope_class: type[Envelope] | None = None,
) -> dict[str, Any]:
    """Send one request through the pipeline and return the JSON-RPC response.

    Takes the arguments of `send_for_bytes`, and raises what it raises.
    """
    body = send_for_bytes(method, params, user, revision=revision, envelope_class=envelope_class)
    response: dict[str, Any] = json.loads(body)
    return response


def send_for_bytes(
    method: str,
    params: Mapping[str, Any],
    user: Any = None,
    *,
    revision: str = STATELESS_REVISION,
    envelope_class: type[Envelope] | None = None,
) -> bytes:
    """Send one request through the pipeline and return the response as it is on the wire.

    Args:
        method: the MCP method.
        params: its params.
        user: on whose behalf; None for an anonymous caller.
        revision: the revision to speak.
        envelope_class: the envelope of the results; None for the tools' own.

    Raises:
        APIException: if the endpoint lets no such caller in.
    """
    message, headers = framed(method, params, revision)
    server = Server(registry)
    if envelope_class is not None:
        server.force_envelope = lambda chosen: envelope_class
    return server.answer(json.dumps(message).encode(), headers, local_caller(user)).body


def framed(
    method: str, params: Mapping[str, Any], revision: str
) -> tuple[dict[str, Any], dict[str, str] | None]:
    """Return a request message of a revision, and the headers that name the revision."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": dict(params)}
    if revision != STATELESS_REVISION:
        return message, {PROTOCOL_VERSION_HEADER: revision}
    meta = {
        PROTOCOL_VERSION_KEY: revision,
        CLIENT_INFO_KEY: {"name": "drf_mcp", "version": drf_mcp.__version__},
        CLIENT_CAPABILITIES_KEY: {},
    }
    message["params"] = {**params, "_meta": {**meta, **params.get("_meta", {})}}
    return message, None
