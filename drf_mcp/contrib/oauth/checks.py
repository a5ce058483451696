"""System checks of the authorization server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.shortcuts import resolve_url
from django.urls import NoReverseMatch, Resolver404, resolve
from django.utils.module_loading import import_string
from oauth2_provider.settings import oauth2_settings

from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.oauth.defaults import REQUIRED
from drf_mcp.contrib.oauth.views import ConsentView, ServerMetadataView

METADATA = "/.well-known/oauth-authorization-server/o"


@register_check()
def check_server(project: Project) -> Iterator[CheckMessage]:
    for name, wanted in REQUIRED.items():
        if not _holds(getattr(oauth2_settings, name), wanted):
            yield Error(
                f"OAUTH2_PROVIDER[{name!r}] has to be {wanted!r} where agents sign in.",
                hint="Unpack drf_mcp.contrib.oauth.defaults.AGENTS into OAUTH2_PROVIDER, and leave "
                "this setting out. See docs/sign_in_own.md.",
                id="drf_mcp.E020",
            )
    fault = ""
    if _find_view("oauth2_provider:authorize") is not ConsentView:
        fault = "People are not asked by the consent page of drf_mcp.contrib.oauth."
    elif _find_view(METADATA) is not ServerMetadataView:
        fault = f"The metadata is not at {METADATA}, where clients look for it."
    if fault:
        yield Warning(
            fault,
            hint='Add path("", include("drf_mcp.contrib.oauth.urls")) at the root of the URLconf, '
            "before any pattern that takes every path, and no oauth2_provider.urls.",
            id="drf_mcp.W025",
        )
    if project.endpoints and not any(e.view.get_authorization_servers() for e in project.endpoints):
        yield Warning(
            "No MCP endpoint names the project's own authorization server, so no client signs in.",
            hint='Set DRF_MCP["AUTHORIZATION_SERVERS"] to ["/o"].',
            id="drf_mcp.W026",
        )
    if _find_view(settings.LOGIN_URL) is None:
        yield Warning(
            f"No user can sign in: LOGIN_URL, {settings.LOGIN_URL!r}, leads to no page.",
            hint="Set LOGIN_URL to a page where all of your users can log in.",
            id="drf_mcp.W027",
        )


@register_check(deploy=True)
def check_issuer_is_secure(project: Project) -> Iterator[CheckMessage]:
    own = oauth2_settings.OIDC_ISS_ENDPOINT
    knows = settings.SECURE_SSL_REDIRECT or settings.SECURE_PROXY_SSL_HEADER
    if own.startswith("http:") or not (own or knows):
        yield Warning(
            "The issuer may be announced as an http: address, which clients refuse.",
            hint="Set SECURE_PROXY_SSL_HEADER where a proxy ends TLS, or SECURE_SSL_REDIRECT, or "
            "the issuer itself in OAUTH2_PROVIDER['OIDC_ISS_ENDPOINT'].",
            id="drf_mcp.W028",
        )


def _holds(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return all(any(_holds(each, name) for each in value) for name in wanted)
    if isinstance(wanted, str):
        # A class of the project's own that extends the right one.
        return isinstance(value, type) and issubclass(value, import_string(wanted))
    return value is wanted


def _find_view(name: str) -> Any:
    """Return the view of a name or an address; True for one elsewhere, None without one."""
    with suppress(NoReverseMatch, Resolver404):
        address = resolve_url(name)
        found = resolve(address.partition("?")[0]).func if address.startswith("/") else True
        return getattr(found, "view_class", found)
    return None
