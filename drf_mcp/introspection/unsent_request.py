"""The request that views are looked at with: nobody's, but as complete as one that was sent."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from drf_mcp.introspection.safe_call import attempt

JSON = "application/json"


def unsent_request(method: str, path: str, user: Any = None) -> Request:
    """Return a request that nobody sent.

    Args:
        method: the HTTP method in upper case.
        path: the path as it would be requested, or the route as people write it.
        user: who would send it; anonymous by default.
    """
    http_request = HttpRequest()
    http_request.method = method
    http_request.path = http_request.path_info = path
    http_request.META = {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "SERVER_NAME": host(),
        "SERVER_PORT": "80",
        "HTTP_ACCEPT": JSON,
    }
    http_request.user = AnonymousUser()
    request = Request(http_request)
    if user is not None:
        request.user, request.auth = user, None
    return request


def host() -> str:
    """Return a host of the project that a request may name."""
    concrete = (name.lstrip(".") for name in settings.ALLOWED_HOSTS if name.strip(".*"))
    return next(concrete, "localhost")


def negotiate(view: Any) -> None:
    """Put on a view's request what REST framework settles before it asks any permission.

    A version that only a real request would name is None.
    """
    request = view.request
    place = type(view).__qualname__
    stock: tuple[Any, Any] = (JSONRenderer(), JSON)
    unknown: tuple[Any, Any] = (None, None)
    request.accepted_renderer, request.accepted_media_type = attempt(
        place, lambda: view.perform_content_negotiation(request, force=True), "", [], stock
    )
    request.version, request.versioning_scheme = attempt(
        place, lambda: view.determine_version(request, *view.args, **view.kwargs), "", [], unknown
    )
