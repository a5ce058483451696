"""The page as an HTTP response: who gets one, and what a browser may load with it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import NoReverseMatch, reverse
from django.utils.cache import add_never_cache_headers, patch_vary_headers
from django.utils.http import urlencode

from drf_mcp.access.authentication import Caller
from drf_mcp.browsable.context import contents, server_facts
from drf_mcp.server import Server
from drf_mcp.settings import mcp_settings

# To override: a template of this name, extending "drf_mcp/base.html".
TEMPLATE = "drf_mcp/api.html"
STATIC_FILES = ("drf_mcp/page.css", "drf_mcp/page.js", "drf_mcp/icon.svg")
HTML = ("text", "html")


def is_wanted(request: HttpRequest, shown: bool | None) -> bool:
    """Return whether a GET asks for the page where there is one.

    Args:
        request: the request; only one that names HTML in its Accept header is a browser's.
        shown: what the endpoint says of the page; None for BROWSABLE_PAGE, and if that says
            nothing either, for DEBUG.
    """
    if shown is None:
        shown = mcp_settings.BROWSABLE_PAGE
    if shown is None:
        shown = settings.DEBUG
    kinds = {(kind.main_type, kind.sub_type) for kind in request.accepted_types}
    return bool(shown) and HTML in kinds


def show(server: Server, caller: Caller) -> HttpResponse:
    """Return the page for a caller.

    Raises:
        APIException: if the endpoint does not let the caller in.
    """
    request = caller.request
    content = contents(server, caller)
    links = account_links(request, known=bool(getattr(caller.user, "is_authenticated", False)))
    status = 404 if content["template"] == "drf_mcp/missing.html" else 200
    return page(request, {**content, **links}, status)


def refuse(
    server: Server, request: HttpRequest, refusal: HttpResponse, reason: str
) -> HttpResponse:
    """Return the page that says why a browser is not let in, and where to sign in.

    Args:
        server: the server.
        request: the request.
        refusal: what any other client is answered; its status and challenge stay.
        reason: why, in a sentence.
    """
    context = {
        **server_facts(server, request),
        **account_links(request, known=refusal.status_code != 401),
        "template": "drf_mcp/refused.html",
        "reason": reason,
        "status": refusal.status_code,
    }
    response = page(request, context, refusal.status_code)
    if "WWW-Authenticate" in refusal:
        response["WWW-Authenticate"] = refusal["WWW-Authenticate"]
    return response


def page(request: HttpRequest, context: dict[str, Any], status: int) -> HttpResponse:
    """Return a rendered page that is nobody else's and loads nothing from elsewhere."""
    response = render(request, TEMPLATE, context, status=status)
    response["Content-Security-Policy"] = content_security_policy()
    response["Referrer-Policy"] = "same-origin"
    response["X-Content-Type-Options"] = "nosniff"
    patch_vary_headers(response, ["Accept", "Cookie"])
    add_never_cache_headers(response)
    return response


def content_security_policy() -> str:
    """Return the policy: this host alone, and the one that STATIC_URL may name."""
    addresses = (urlsplit(static(path)) for path in STATIC_FILES)
    elsewhere = {f"{url.scheme or 'https'}://{url.netloc}" for url in addresses if url.netloc}
    own = " ".join(["'self'", *sorted(elsewhere)])
    directives = {
        "default-src": "'none'",
        "script-src": own,
        "style-src": own,
        "img-src": f"{own} data:",
        "media-src": "data:",
        "connect-src": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
    }
    return "; ".join(f"{name} {sources}" for name, sources in directives.items())


def account_links(request: HttpRequest, *, known: bool) -> dict[str, Any]:
    """Return where to sign in or out, where the project serves REST framework's login."""
    try:
        url = reverse("rest_framework:logout" if known else "rest_framework:login")
    except NoReverseMatch:
        return {}
    back = urlencode({"next": request.get_full_path()})
    return {"logout_url": url} if known else {"login_url": f"{url}?{back}"}
