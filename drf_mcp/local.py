"""The door of this process: calls that come in without HTTP, on behalf of a user."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.handlers.wsgi import WSGIRequest
from rest_framework.settings import api_settings

from drf_mcp.callers import Caller
from drf_mcp.server import Server
from drf_mcp.settings import mcp_settings
from drf_mcp.tools import registry


def local_request(user: Any = None) -> WSGIRequest:
    """Return a request like one to the endpoint, without credentials of its own.

    A user is taken at the operator's word: the views' authentication is told whom it
    found, the way ``force_authenticate`` tells it in REST framework's tests.
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
    request = WSGIRequest(environ)
    request.user = AnonymousUser() if user is None else user
    if user is not None:
        request._force_auth_user = user  # type: ignore[attr-defined]
    return request


def send(method: str, params: Mapping[str, Any], user: Any = None) -> dict[str, Any]:
    """Send one request through the pipeline and return the JSON-RPC response.

    Args:
        method: the MCP method.
        params: its params.
        user: on whose behalf; None for an anonymous caller.

    Raises:
        APIException: if the endpoint lets no such caller in.
    """
    authentication = mcp_settings.AUTHENTICATION_CLASSES
    if authentication is None:
        authentication = api_settings.DEFAULT_AUTHENTICATION_CLASSES
    caller = Caller(local_request(user), None, authentication, mcp_settings.PERMISSION_CLASSES)
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    reply = Server(registry).answer(json.dumps(message).encode(), None, caller)
    response: dict[str, Any] = json.loads(reply.body)
    return response
