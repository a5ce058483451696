"""Endpoints and callers without HTTP, for stdio, commands and checks."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.handlers.wsgi import WSGIRequest

from drf_mcp.access.authentication import Caller, resolve_authentication_classes
from drf_mcp.access.resources import WellKnownConverter
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.registry import Registry, registry
from drf_mcp.tools.tool import Tool

DEFAULT_PATH = "/mcp"


class LocalEndpoint:
    """An endpoint that answers callers of this process.

    Args:
        path: the path of the endpoint, such as ``/mcp/readonly``; None for an endpoint made from
            the settings.

    Raises:
        LookupError: if the URLconf has no endpoint at the path.
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

    @property
    def registry(self) -> Registry:
        own: Registry = registry if self.found is None else self.found.view.registry
        return own

    @property
    def tool_options(self) -> Mapping[str, Any] | None:
        """The options that the endpoint sets for all of its tools."""
        return None if self.found is None else self.found.view.tool_options

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools of the endpoint by name, for any caller.

        Raises:
            Refused: if the path names no toolset.
        """
        every = self.registry.tools(None, self.tool_options)
        return self.registry.narrow(every, self.make_caller().narrowings)

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
        """Return the throttles of the endpoint."""
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
            # Views authenticate this user, as after `force_authenticate` in tests.
            request._force_auth_user = user  # type: ignore[attr-defined]
        return request


def make_local_caller(user: Any = None, authorization: str | None = None) -> Caller:
    """Return a caller at the endpoint that is made from the settings."""
    return LocalEndpoint().make_caller(user, authorization)
