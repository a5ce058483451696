"""Refuses requests of web pages from other origins, with which browsers send cookies."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.http.request import validate_host

from drf_mcp.exceptions import Refused
from drf_mcp.settings import mcp_settings

# Hosts that Django itself allows while DEBUG is on and ALLOWED_HOSTS is empty.
DEBUG_HOSTS = [".localhost", "127.0.0.1", "[::1]"]
# The values of Sec-Fetch-Site for a page of the same origin, and for a request without a page.
OWN_SITES = ("same-origin", "none")
DEFAULT_PORTS = {"http": 80, "https": 443}
JSON = "application/json"


class ForeignOrigin(Refused):
    """A request of a page from another origin."""


def check_media_type(request: HttpRequest) -> None:
    # A page of another origin can send JSON only after a preflight request.
    if request.method == "POST" and request.content_type != JSON:
        raise Refused(415, f"The Content-Type of a message must be {JSON}.")


def check_origin(request: HttpRequest) -> None:
    """Refuse a request of another origin's page (streamable-http, "Security & Endpoint")."""
    origin = request.META.get("HTTP_ORIGIN")
    site = request.META.get("HTTP_SEC_FETCH_SITE", "none")
    crosses = request.method == "POST" and site not in OWN_SITES
    unnamed = crosses and origin not in mcp_settings.ALLOWED_ORIGINS
    if unnamed or (origin is not None and not admits(origin, request)):
        raise ForeignOrigin(403, "This origin is not allowed.")


def admits(origin: str, request: HttpRequest) -> bool:
    """Return whether an origin is the endpoint's own or one of ALLOWED_ORIGINS."""
    if origin in mcp_settings.ALLOWED_ORIGINS:
        return True
    place = _read_origin(origin)
    if place is None or not place[1]:
        return False
    # ``"*"`` in ALLOWED_HOSTS is no host: with DNS rebinding any name may point to this server.
    host = f"[{place[1]}]" if ":" in place[1] else place[1]
    named = [pattern for pattern in settings.ALLOWED_HOSTS if pattern != "*"]
    if not validate_host(host, named or (DEBUG_HOSTS if settings.DEBUG else [])):
        return False
    # Browsers know the origin, even behind a proxy that hides scheme and port from Django.
    is_same = request.META.get("HTTP_SEC_FETCH_SITE") == "same-origin"
    return is_same or place == _read_origin(f"{request.scheme}://{request.get_host()}")


def _read_origin(origin: str) -> tuple[str, str, int | None] | None:
    try:
        parts = urlsplit(origin)
        return parts.scheme, parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return None
