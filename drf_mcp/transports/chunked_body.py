"""Request bodies without a Content-Length, which a client sends in chunks (RFC 9112, 7.1)."""

from __future__ import annotations

from django.conf import settings
from django.core.handlers.wsgi import LimitedStream
from django.http import HttpRequest


class LengthRequired(Exception):
    """The WSGI server does not say where a body without Content-Length ends."""


def open_chunked_body(request: HttpRequest, limit: int) -> int:
    """Let Django read a body that came without a Content-Length, which it takes for empty.

    Returns how many bytes the body may have. One more is read, so that a longer body shows.
    """
    stream = request.META.get("wsgi.input")
    # Under ASGI Django reads every body to its end.
    if stream is None or vars(request).get("_body"):
        return limit
    if request.META.get("wsgi.input_terminated"):
        limit = min(limit, settings.DATA_UPLOAD_MAX_MEMORY_SIZE or limit)
        # Middleware may have looked at the body, which seemed empty.
        vars(request).pop("_body", None)
        request._read_started = False  # type: ignore[attr-defined]
        request._stream = LimitedStream(stream, limit + 1)  # type: ignore[assignment]
    elif request.META.get("HTTP_TRANSFER_ENCODING"):
        raise LengthRequired
    return limit
