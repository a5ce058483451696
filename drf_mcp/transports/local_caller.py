from __future__ import annotations

import io
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.handlers.wsgi import WSGIRequest

from drf_mcp.access.authentication import Caller, resolve_authentication_classes
from drf_mcp.settings import mcp_settings


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
    request.is_mcp_request = True  # type: ignore[attr-defined]
    request.user = AnonymousUser() if user is None else user
    if user is not None:
        # As `force_authenticate` of REST framework's tests tells a view's authentication.
        request._force_auth_user = user  # type: ignore[attr-defined]
    classes = resolve_authentication_classes()
    return Caller(request, None, classes, mcp_settings.PERMISSION_CLASSES)
