"""System checks of the authorization server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.shortcuts import resolve_url
from django.urls import NoReverseMatch, Resolver404, resolve, reverse
from django.utils.module_loading import import_string
from oauth2_provider.settings import oauth2_settings

from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.oauth.defaults import REQUIRED
from drf_mcp.contrib.oauth.views import ConsentView, ServerMetadataView

INCLUDE = 'Add path("", include("drf_mcp.contrib.oauth.urls")) at the root of the URLconf'


@register_check()
def check_required_settings(project: Project) -> Iterator[CheckMessage]:
    for name, wanted in REQUIRED.items():
        if not _holds(getattr(oauth2_settings, name), wanted):
            yield Error(
                f"OAUTH2_PROVIDER[{name!r}] has to be {wanted!r} where agents sign in.",
                hint="Unpack drf_mcp.contrib.oauth.defaults.AGENTS into OAUTH2_PROVIDER, and leave "
                "this setting out. See docs/sign_in_own.md.",
                id="drf_mcp.E020",
            )


@register_check()
def check_addresses(project: Project) -> Iterator[CheckMessage]:
    if _find_view("oauth2_provider:authorize") is not ConsentView:
        yield Warning(
            "People are not asked by the consent page of drf_mcp.contrib.oauth.",
            hint=f"{INCLUDE}, in place of oauth2_provider.urls.",
            id="drf_mcp.W025",
        )
    elif _find_view(_find_metadata_address()) is not ServerMetadataView:
        yield Warning(
            f"The metadata of the authorization server is not at {_find_metadata_address()}, where "
            "clients look for it.",
            hint=f"{INCLUDE}, before any pattern that takes every path.",
            id="drf_mcp.W025",
        )


@register_check()
def check_server_is_named(project: Project) -> Iterator[CheckMessage]:
    if project.endpoints and not any(e.view.get_authorization_servers() for e in project.endpoints):
        yield Warning(
            "No MCP endpoint names the project's own authorization server, so no client signs in.",
            hint='Set DRF_MCP["AUTHORIZATION_SERVERS"] to ["/o"].',
            id="drf_mcp.W026",
        )


@register_check()
def check_login_page(project: Project) -> Iterator[CheckMessage]:
    try:
        address = resolve_url(settings.LOGIN_URL)
        found = not address.startswith("/") or bool(resolve(address.partition("?")[0]))
    except (NoReverseMatch, Resolver404):
        found = False
    if not found:
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


def _find_metadata_address() -> str:
    # RFC 8414, section 3.1: the well-known part comes before the path of the issuer.
    issuer, well_known, name = reverse("oauth2_provider:oauth-server-metadata").partition(
        "/.well-known/"
    )
    return f"{well_known}{name}{issuer}"


def _find_view(name: str) -> Any:
    try:
        address = name if name.startswith("/") else reverse(name)
        return getattr(resolve(address).func, "view_class", None)
    except (NoReverseMatch, Resolver404):
        return None
