"""Responses as server-sent events: notifications first, the JSON-RPC response last.

2026-07-28, basic/transports/streamable-http. A stream begins with the first notification. A call
without notifications is answered in JSON, with its own HTTP status.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from typing import Any

from django.db import connections
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

from drf_mcp.interaction.progress import Channel
from drf_mcp.protocol import jsonrpc
from drf_mcp.protocol.context import Reply
from drf_mcp.transports.http import make_json_response

EVENT_STREAM = "text/event-stream"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
TOKEN = b'"progressToken"'
KEEP_ALIVE = b":\n\n"
# Between two comments, which keep proxies and clients from closing the connection.
KEEP_ALIVE_SECONDS = 15.0

Respond = Callable[[], HttpResponse]


def is_stream_wanted(request: HttpRequest, body: bytes) -> bool:
    """Return whether a client asks for notifications of progress, and accepts events."""
    return TOKEN in body and EVENT_STREAM in request.META.get("HTTP_ACCEPT", "")


def encode_event(message: bytes) -> bytes:
    return b"event: message\ndata: %b\n\n" % message


def make_response(reply: Reply) -> Any:
    """Return the response that carries a reply: JSON, or events as they come."""
    if reply.stream is None:
        return make_json_response(reply.status, reply.body, reply.headers)
    stream = reply.stream

    async def get_events() -> AsyncIterator[bytes]:
        async with aclosing(stream.messages) as messages:  # type: ignore[type-var]
            async for message in messages:
                yield encode_event(message) if message else KEEP_ALIVE

    return StreamingHttpResponse(get_events(), content_type=EVENT_STREAM, headers=dict(HEADERS))


class BufferedStream:
    """Sends the notifications together with the response: under WSGI a view returns once.

    Args:
        respond: returns the JSON response.
    """

    def __init__(self, respond: Respond) -> None:
        self.respond = respond
        self.events: list[bytes] = []
        self.channel = Channel(self.send)

    def send(self, method: str, params: Mapping[str, Any]) -> None:
        self.events.append(encode_event(jsonrpc.encode_notification(method, params)))

    def get_response(self) -> HttpResponse | StreamingHttpResponse:
        response = self.respond()
        if not self.events:
            return response
        content = b"".join((*self.events, encode_event(response.content)))
        return HttpResponse(content, EVENT_STREAM, headers=HEADERS)


class LiveStream(BufferedStream):
    """Sends each notification at once: the call runs in a thread, with connections of its own."""

    def __init__(self, respond: Respond) -> None:
        super().__init__(respond)
        self.waiting: deque[bytes] = deque()
        self.response: HttpResponse | None = None
        # Set by the first notification, or by the answer.
        self.begun = threading.Event()
        self.ended = False
        self.wake: Callable[[], Any] = self.begun.set

    def send(self, method: str, params: Mapping[str, Any]) -> None:
        self.waiting.append(encode_event(jsonrpc.encode_notification(method, params)))
        self.wake()

    def get_response(self) -> HttpResponse | StreamingHttpResponse:
        work = contextvars.copy_context().run
        threading.Thread(target=work, args=(self.work,), daemon=True).start()
        self.begun.wait()
        if not self.waiting:
            assert self.response is not None
            return self.response
        return StreamingHttpResponse(
            self.stream(), content_type=EVENT_STREAM, headers=dict(HEADERS)
        )

    def work(self) -> None:
        try:
            self.response = self.respond()
        except asyncio.CancelledError:
            # The client is gone, so the async view was cancelled.
            pass
        finally:
            connections.close_all()
            self.ended = True
            self.wake()

    async def stream(self) -> AsyncIterator[bytes]:
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
                except asyncio.TimeoutError:
                    yield KEEP_ALIVE
            if self.response is not None:
                yield encode_event(self.response.content)
        finally:
            # The loop may end before the call does.
            self.wake = self.begun.set
            if not self.ended:
                self.channel.cancel()


def open_stream(request: HttpRequest, respond: Respond) -> BufferedStream:
    """Return the stream of a response: under ASGI a live one."""
    kind = LiveStream if hasattr(request, "scope") else BufferedStream
    return kind(respond)
