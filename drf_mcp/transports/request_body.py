"""Bodies of requests, also those without a Content-Length: chunks (RFC 9112, 7.1)."""

from __future__ import annotations

from typing import NoReturn

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.handlers.wsgi import LimitedStream
from django.http import HttpRequest, RawPostDataException
from django.utils.translation import gettext as _

from drf_mcp.exceptions import Refused, contain
from drf_mcp.protocol import jsonrpc
from drf_mcp.settings import mcp_settings


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


def read_body(request: HttpRequest) -> bytes:
    # 411 where the server cannot tell the end of chunks.
    limit = mcp_settings.MAX_BODY_BYTES
    try:
        length = int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        raise Refused(400, _("The Content-Length header is not a number.")) from None
    if length > limit:
        raise refuse_length(limit)
    if not length:
        try:
            limit = open_chunked_body(request, limit)
        except LengthRequired:
            raise Refused(411, _("Send the body with a Content-Length header.")) from None
    body = contain(lambda: request.body, refuse_body)
    if len(body) > limit:
        raise refuse_length(limit)
    return body


def find_request_id(request: HttpRequest) -> jsonrpc.RequestId | None:
    """Return the id of the request in a body that is refused, None where it cannot be read."""
    return contain(lambda: jsonrpc.find_id(read_body(request)), lambda exc: None)


def refuse_body(exc: Exception) -> NoReturn:
    if isinstance(exc, RequestDataTooBig):
        raise refuse_length(settings.DATA_UPLOAD_MAX_MEMORY_SIZE) from None
    # Middleware has read the stream, which is none of the client's faults.
    if isinstance(exc, RawPostDataException):
        raise exc
    # Of a stream that breaks off Django makes an UnreadablePostError. A server that finds chunks
    # malformed raises an exception of its own: gunicorn's are no OSError.
    raise Refused(400, _("The request body could not be read.")) from exc


def refuse_length(limit: int | None) -> Refused:
    text = _("The request body is larger than %(limit)s bytes.")
    return Refused(413, text % {"limit": limit})
