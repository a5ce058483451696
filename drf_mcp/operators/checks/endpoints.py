"""System checks of the MCP endpoints: whether clients reach them, and who else does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core.checks import CheckMessage, Warning, register
from django.urls import URLResolver, get_resolver
from django.utils.module_loading import import_string
from rest_framework.permissions import AllowAny

from drf_mcp.operators.checks.settings import can_read_tools
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.routes import Route
from drf_mcp.views import MCPView

# Names of middleware that sends people to a page: a login, a new password, terms to accept.
REDIRECTING = re.compile(
    r"(log_?in|sign_?in|authenticat\w*|auth|password|otp|mfa|2fa|two_?factor|terms|consent)"
    r"_?(is_?)?(required|enforce\w*|expir\w*|change\w*|redirect\w*|wall)"
    r"|(require[sd]?|enforce[sd]?|force[sd]?|redirect\w*)_?(to_?)?"
    r"(log_?in|sign_?in|auth|password|otp|mfa|2fa|two_?factor|terms|consent)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class MountedEndpoint:
    """An MCP endpoint and where it stands in the URLconf.

    Attributes:
        path: the path for people.
        callback: what ``as_view`` returned.
    """

    path: str
    callback: Any

    def given(self, name: str) -> Any:
        """Return what the endpoint itself was given, None to take the project's setting."""
        own = getattr(self.view, name)
        return () if own is None else own

    @property
    def view(self) -> MCPView:
        """The view, as it is made for each request."""
        view: MCPView = self.callback.view_class(**self.callback.view_initkwargs)
        return view

    @property
    def permission_classes(self) -> Any:
        """The permissions asked before any view's own."""
        own = self.view.permission_classes
        return mcp_settings.PERMISSION_CLASSES if own is None else own


def mounted_endpoints() -> list[MountedEndpoint]:
    """Return the MCP endpoints of the project's URLconf."""
    urlconf = getattr(settings, "ROOT_URLCONF", None)
    return list(endpoints_below(get_resolver(urlconf), ())) if urlconf else []


def endpoints_below(resolver: URLResolver, parents: tuple[Any, ...]) -> Iterator[MountedEndpoint]:
    """Yield the MCP endpoints below a resolver."""
    chain = (*parents, resolver.pattern)
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            yield from endpoints_below(entry, chain)
            continue
        view_class = getattr(entry.callback, "view_class", None)
        if isinstance(view_class, type) and issubclass(view_class, MCPView):
            route = Route(None, (*chain, entry.pattern), entry.callback)
            yield MountedEndpoint(route.path, entry.callback)


@register("drf_mcp")
def check_middleware(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Look for middleware that would answer an MCP client with a redirect to a page."""
    endpoints = mounted_endpoints()
    if not endpoints:
        return []
    paths = ", ".join(endpoint.path for endpoint in endpoints)
    return [
        Warning(
            f"{name} looks like it redirects requests to a page for people. An MCP client "
            f"that sends a token would not get past it.",
            hint=f"Exempt {paths} in that middleware, or include drf_mcp.urls below a path that it "
            "lets through; then silence this warning.",
            id="drf_mcp.W002",
        )
        for name in settings.MIDDLEWARE
        if redirects(name)
    ]


def redirects(name: str) -> bool:
    """Return whether middleware sounds like one that redirects, and knows no exempt views.

    Django's own LoginRequiredMiddleware leaves views alone that say so, as endpoints do.
    """
    if not REDIRECTING.search(name.rpartition(".")[2]):
        return False
    try:
        middleware = import_string(name)
    except ImportError:
        return False
    own = LoginRequiredMiddleware.process_view
    return getattr(middleware, "process_view", None) is not own


@register("drf_mcp", deploy=True)
def check_open_endpoints(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Look for endpoints that ask nobody who they are."""
    if not can_read_tools():
        return []
    return [
        Warning(
            f"The MCP endpoint {endpoint.path} is open to anonymous callers.",
            hint="The views' own permissions still hold. Ask for a login with "
            "DRF_MCP['PERMISSION_CLASSES'], or silence this warning if it is meant to be open.",
            id="drf_mcp.W006",
        )
        for endpoint in mounted_endpoints()
        if all(permission is AllowAny for permission in endpoint.permission_classes)
    ]


@register("drf_mcp", deploy=True)
def check_hosts(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Look at ALLOWED_HOSTS, which tells an endpoint the browser origins that may call it."""
    if "*" not in settings.ALLOWED_HOSTS or not mounted_endpoints():
        return []
    return [
        Warning(
            "ALLOWED_HOSTS allows any host and so names none whose pages may call the MCP "
            "endpoint: calls from a browser are refused, those of the endpoint's own page too. "
            "Anything else would open it to every page (DNS rebinding).",
            hint="Name the hosts of the project in ALLOWED_HOSTS, and further browser origins "
            "in DRF_MCP['ALLOWED_ORIGINS'].",
            id="drf_mcp.W008",
        )
    ]
