"""The headers, the body and the JSON response of an HTTP request."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.handlers.wsgi import LimitedStream
from django.http import HttpRequest, HttpResponse, RawPostDataException
from django.http.request import HttpHeaders
from django.utils.translation import gettext as _

from drf_mcp.exceptions import Refused, contain
from drf_mcp.protocol import jsonrpc
from drf_mcp.settings import mcp_settings


class MetaHeaders(Mapping[str, str]):
    """The headers of a request; ``request.headers`` would make all of them for the few read."""

    def __init__(self, meta: Mapping[str, str]) -> None:
        self.meta = meta

    def __getitem__(self, name: str) -> str:
        return self.meta[_get_meta_name(name)]

    def get(self, name: str, default: Any = None) -> Any:
        return self.meta.get(_get_meta_name(name), default)

    def __iter__(self) -> Iterator[str]:
        return iter(HttpHeaders(self.meta))

    def __len__(self) -> int:
        return len(HttpHeaders(self.meta))


@functools.lru_cache(maxsize=256)
def _get_meta_name(header: str) -> str:
    return f"HTTP_{header.upper().replace('-', '_')}"


def _open_chunked_body(request: HttpRequest, limit: int) -> int:
    """Let Django read a body without a Content-Length (RFC 9112, 7.1), which it takes for empty.

    Returns how many bytes the body may have. One more is read, so that a longer body is noticed.
    """
    stream = request.META.get("wsgi.input")
    # Under ASGI Django reads every body to its end.
    if stream is None or vars(request).get("_body"):
        return limit
    if request.META.get("wsgi.input_terminated"):
        limit = min(limit, settings.DATA_UPLOAD_MAX_MEMORY_SIZE or limit)
        # Middleware may have read the body as empty.
        vars(request).pop("_body", None)
        request._read_started = False  # type: ignore[attr-defined]
        request._stream = LimitedStream(stream, limit + 1)  # type: ignore[assignment]
    elif request.META.get("HTTP_TRANSFER_ENCODING"):
        # The WSGI server does not say where the chunks end.
        raise Refused(411, _("Send the body with a Content-Length header."))
    return limit


def read_body(request: HttpRequest) -> bytes:
    limit = mcp_settings.MAX_BODY_BYTES
    try:
        length = int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        raise Refused(400, _("The Content-Length header is not a number.")) from None
    if length > limit:
        raise _make_length_error(limit)
    if not length:
        limit = _open_chunked_body(request, limit)
    body = contain(lambda: request.body, _refuse_body)
    if len(body) > limit:
        raise _make_length_error(limit)
    return body


def find_request_id(request: HttpRequest) -> jsonrpc.RequestId | None:
    """Return the id of the request in a body that is refused, None where it cannot be read."""
    return contain(lambda: jsonrpc.find_id(read_body(request)), lambda exc: None)


def _refuse_body(exc: Exception) -> NoReturn:
    if isinstance(exc, RequestDataTooBig):
        raise _make_length_error(settings.DATA_UPLOAD_MAX_MEMORY_SIZE) from None
    # Middleware has read the stream: no fault of the client.
    if isinstance(exc, RawPostDataException):
        raise exc
    # Django raises UnreadablePostError for a stream that breaks off. Servers raise exceptions of
    # their own for malformed chunks: gunicorn's are no OSError.
    raise Refused(400, _("The request body could not be read.")) from exc


def _make_length_error(limit: int | None) -> Refused:
    text = _("The request body is larger than %(limit)s bytes.")
    return Refused(413, text % {"limit": limit})


def make_json_response(
    status: int, body: bytes, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    if not body:
        return HttpResponse(status=status, headers=headers)
    return HttpResponse(body, "application/json", status, headers=headers)
