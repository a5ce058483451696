"""The body of an HTTP request, and its response: JSON, or server-sent events.

2026-07-28, basic/transports/streamable-http. Notifications come first, the JSON-RPC response last;
a call that ends soon, and without notifications, is answered in JSON, with its own HTTP status.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import Any, NoReturn

from django.conf import settings
from django.core.cache import caches
from django.core.exceptions import RequestDataTooBig
from django.core.handlers.wsgi import LimitedStream
from django.db import connections
from django.http import HttpRequest, HttpResponse, RawPostDataException, StreamingHttpResponse
from django.urls import get_urlconf, set_urlconf
from django.utils import timezone, translation

from drf_mcp.exceptions import Refused, attempt
from drf_mcp.interaction.exchange import Channel
from drf_mcp.interaction.stopping import StopSignal
from drf_mcp.protocol import jsonrpc
from drf_mcp.protocol.capability import Reply
from drf_mcp.settings import mcp_settings


def _open_chunked_body(request: HttpRequest, limit: int) -> int:
    """Have Django read a body without a Content-Length (RFC 9112, 7.1), which it would skip.

    Returns:
        How many bytes the body may have. One byte more is read, to notice a longer body.
    """
    stream = request.META.get("wsgi.input")
    # Under ASGI Django reads every body.
    if stream is None or vars(request).get("_body"):
        return limit
    if request.META.get("wsgi.input_terminated"):
        limit = min(limit, settings.DATA_UPLOAD_MAX_MEMORY_SIZE or limit)
        # Middleware may have read the body as empty.
        vars(request).pop("_body", None)
        request._read_started = False  # type: ignore[attr-defined]
        request._stream = LimitedStream(stream, limit + 1)  # type: ignore[assignment]
    elif request.META.get("HTTP_TRANSFER_ENCODING"):
        # The WSGI server does not mark the end of the chunks.
        raise Refused(411, "Send the body with a Content-Length header.")
    return limit


def read_body(request: HttpRequest) -> bytes:
    limit = mcp_settings.MAX_BODY_BYTES
    try:
        length = int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        raise Refused(400, "The Content-Length header is not a number.") from None
    if length > limit:
        raise _make_length_error(limit)
    if not length:
        limit = _open_chunked_body(request, limit)
    body = attempt(lambda: request.body, otherwise=_refuse_body)
    if len(body) > limit:
        raise _make_length_error(limit)
    return body


def find_request_id(request: HttpRequest) -> jsonrpc.RequestId | None:
    return attempt(lambda: jsonrpc.find_id(read_body(request)), None)


def _refuse_body(exc: Exception) -> NoReturn:
    if isinstance(exc, RequestDataTooBig):
        raise _make_length_error(settings.DATA_UPLOAD_MAX_MEMORY_SIZE) from None
    # Middleware has read the stream, which is a fault of the project.
    if isinstance(exc, RawPostDataException):
        raise exc
    # A broken stream raises UnreadablePostError; malformed chunks raise exceptions of the server,
    # and gunicorn's errors are no OSError.
    raise Refused(400, "The request body could not be read.") from exc


def _make_length_error(limit: int | None) -> Refused:
    return Refused(413, f"The request body is larger than {limit} bytes.")


def make_json_response(
    status: int, body: bytes, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    if not body:
        return HttpResponse(status=status, headers=headers)
    return HttpResponse(body, "application/json", status, headers=headers)


# --- Events --------------------------------------------------------------------------------------

EVENT_STREAM = "text/event-stream"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
TOKEN, CALL = b'"progressToken"', b'"tools/call"'
# The header of a client that declared at the handshake that its user can be asked.
SESSION_META = "HTTP_MCP_SESSION_ID"
KEEP_ALIVE = b":\n\n"
# Seconds between two comments, which keep proxies and clients from closing the connection.
KEEP_ALIVE_SECONDS = 5.0

Respond = Callable[[], HttpResponse]


def is_stream_wanted(request: HttpRequest, body: bytes) -> bool:
    """Return whether a client accepts events, and asks for progress or can be asked itself."""
    meta = request.META
    may_be_asked = SESSION_META in meta and CALL in body and _has_other_threads(request)
    return (TOKEN in body or may_be_asked) and EVENT_STREAM in meta.get("HTTP_ACCEPT", "")


def _has_other_threads(request: HttpRequest) -> bool:
    return hasattr(request, "scope") or bool(request.META.get("wsgi.multithread"))


def _encode_event(message: bytes) -> bytes:
    return b"event: message\ndata: %b\n\n" % message


def make_response(reply: Reply) -> Any:
    if reply.stream is None:
        return make_json_response(reply.status, reply.body, reply.headers)
    stream = reply.stream

    async def get_events() -> AsyncIterator[bytes]:
        StopSignal.follow()
        async with aclosing(stream.messages) as messages:  # type: ignore[type-var]
            async for message in messages:
                yield _encode_event(message) if message else KEEP_ALIVE

    return StreamingHttpResponse(get_events(), content_type=EVENT_STREAM, headers=dict(HEADERS))


class BufferedStream:
    """Sends notifications and the response together, when the call has ended."""

    def __init__(self, respond: Respond) -> None:
        self.respond = respond
        self.waiting: deque[bytes] = deque()
        self.channel = Channel(self.send)

    def send(self, method: str, params: Mapping[str, Any], id: str | None = None) -> None:
        self.waiting.append(_encode_event(jsonrpc.encode_message(method, params, id)))

    def get_response(self) -> HttpResponse | StreamingHttpResponse:
        response = self.respond()
        if not self.waiting:
            return response
        content = b"".join((*self.waiting, _encode_event(response.content)))
        return HttpResponse(content, EVENT_STREAM, headers=HEADERS)


class LiveStream(BufferedStream):
    """Sends each notification at once. The call runs in a thread, with its own connections.

    The stream begins with the first notification, or after KEEP_ALIVE_SECONDS: then a comment
    finds out whether the client is still connected.
    """

    def __init__(self, respond: Respond) -> None:
        super().__init__(respond)
        self.response: HttpResponse | None = None
        # Set by each notification and by the response.
        self.news = threading.Event()
        self.ended = False
        self.wake: Callable[[], Any] = self.news.set
        # The state of a thread that Django keeps outside of contextvars.
        self.language = translation.get_language()
        self.time_zone = timezone.get_current_timezone()
        self.urlconf = get_urlconf()
        work = contextvars.copy_context().run
        self.thread = threading.Thread(target=work, args=(self.work,), daemon=True)

    def send(self, method: str, params: Mapping[str, Any], id: str | None = None) -> None:
        super().send(method, params, id)
        self.wake()

    def get_response(self) -> HttpResponse | StreamingHttpResponse:
        self.thread.start()
        self.news.wait(KEEP_ALIVE_SECONDS)
        if self.response is not None and not self.waiting:
            return self.response
        return StreamingHttpResponse(self.drain(), content_type=EVENT_STREAM, headers=dict(HEADERS))

    def work(self) -> None:
        set_urlconf(self.urlconf)
        try:
            with translation.override(self.language), timezone.override(self.time_zone):
                self.response = self.respond()
        except asyncio.CancelledError:
            # The client has disconnected, so the async view was cancelled.
            pass
        finally:
            connections.close_all()
            caches.close_all()
            self.ended = True
            self.wake()

    def drain(self) -> AsyncIterator[bytes] | Iterator[bytes]:
        raise NotImplementedError


class AsyncStream(LiveStream):
    def __init__(self, respond: Respond) -> None:
        super().__init__(respond)
        self.channel.is_live = True

    async def drain(self) -> AsyncIterator[bytes]:
        StopSignal.follow()
        loop, news = asyncio.get_running_loop(), asyncio.Event()
        self.wake = lambda: loop.call_soon_threadsafe(news.set)
        try:
            while True:
                ended = self.ended
                while self.waiting:
                    yield self.waiting.popleft()
                if ended:
                    break
                try:
                    await asyncio.wait_for(news.wait(), KEEP_ALIVE_SECONDS)
                    news.clear()
                except TimeoutError:
                    yield KEEP_ALIVE
            if self.response is not None:
                yield _encode_event(self.response.content)
        finally:
            # The event loop may end before the call.
            self.wake = self.news.set
            if not self.ended:
                self.channel.cancel()


class ThreadStream(LiveStream):
    """A live stream under WSGI: the thread of the request writes what the call's thread sends."""

    def __init__(self, respond: Respond, *, has_others: bool) -> None:
        super().__init__(respond)
        self.channel.is_live = self.channel.shares_threads = has_others

    def get_response(self) -> HttpResponse | StreamingHttpResponse:
        # So that a request does not have two connections to a database.
        for connection in connections.all(initialized_only=True):
            connection.close()
        return super().get_response()

    def drain(self) -> Iterator[bytes]:
        try:
            while True:
                ended = self.ended
                self.news.clear()
                while self.waiting:
                    yield self.waiting.popleft()
                if ended:
                    break
                if not self.ended and not self.news.wait(KEEP_ALIVE_SECONDS):
                    yield KEEP_ALIVE
            if self.response is not None:
                yield _encode_event(self.response.content)
        finally:
            if not self.ended:
                self.channel.cancel()
            # The thread waits for the call: the server's threads limit the number of calls.
            self.thread.join()


def open_stream(request: HttpRequest, respond: Respond) -> BufferedStream:
    """Return the stream of a response, a live one where the call can run in another thread."""
    if hasattr(request, "scope"):
        return AsyncStream(respond)
    # uWSGI runs threads with --enable-threads only.
    has_threads = "uwsgi.version" not in request.META or request.META.get("wsgi.multithread")
    # Another thread would not see the transaction of this one, such as a test's.
    opened = connections.all(initialized_only=True)
    if not has_threads or any(connection.in_atomic_block for connection in opened):
        return BufferedStream(respond)
    return ThreadStream(respond, has_others=_has_other_threads(request))
