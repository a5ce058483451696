"""Callers and endpoints without HTTP, for stdio and commands."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.handlers.wsgi import WSGIRequest

from drf_mcp.access.authentication import Caller, resolve_authentication_classes
from drf_mcp.access.metadata import WellKnownConverter
from drf_mcp.settings import mcp_settings

DEFAULT_PATH = "/mcp"


class LocalEndpoint:
    """An endpoint for callers of this process.

    Args:
        path: where the URLconf has the endpoint, such as ``/mcp/readonly``; None for one that is
            as the settings have it.

    Raises:
        LookupError: if no endpoint is there.
    """

    def __init__(self, path: str | None = None) -> None:
        self.path = path or DEFAULT_PATH
        self.found = WellKnownConverter().find_by_path(path.rstrip("/")) if path else None
        if path and self.found is None:
            raise LookupError(path)

    def make_view(self, request: Any) -> Any:
        """Return the view that serves a request, None without a path."""
        if self.found is None:
            return None
        view = self.found.view
        view.setup(request, *self.found.args, **self.found.kwargs)
        return view

    def make_server(self) -> Any:
        """Return the server of the view, which answers as the endpoint does."""
        return self.make_view(self.make_request()).get_server()

    def narrow(self, registry: Any, tool_options: Any) -> Mapping[str, Any]:
        """Return the tools of a registry that the endpoint leaves, whoever calls."""
        every = registry.tools(None, tool_options)
        left: Mapping[str, Any] = registry.narrow(every, self.make_caller().narrowings)
        return left

    def make_caller(self, user: Any = None, authorization: str | None = None) -> Caller:
        """Return a caller.

        A user needs no credential; with None, the Authorization header says who is calling.

        Raises:
            Refused: if the path names no toolset.
        """
        request = self.make_request(user, authorization)
        view = self.make_view(request)
        if view is None:
            classes = resolve_authentication_classes()
            return Caller(request, None, classes, mcp_settings.PERMISSION_CLASSES)
        caller = Caller(request, None, view.get_authenticators(), view.get_permissions())
        caller.narrowings += tuple(view.get_narrowings())
        return caller

    def get_throttles(self) -> Sequence[Any]:
        """Return what decides how often the tools may be called."""
        if self.found is None:
            return [made() for made in mcp_settings.THROTTLE_CLASSES]
        throttles: Sequence[Any] = self.make_view(self.make_request()).get_throttles()
        return throttles

    def make_request(self, user: Any = None, authorization: str | None = None) -> Any:
        # ".example.com" allows example.com itself, and "*" any host.
        hosts = [host.removeprefix(".") for host in settings.ALLOWED_HOSTS if host != "*"]
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
            # As `force_authenticate` of REST framework's tests tells a view's authentication.
            request._force_auth_user = user  # type: ignore[attr-defined]
        return request


def make_local_caller(user: Any = None, authorization: str | None = None) -> Caller:
    """Return a caller at the endpoint as the settings have it."""
    return LocalEndpoint().make_caller(user, authorization)
