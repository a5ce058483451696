"""MCP over stdin and stdout, one message a line (2026-07-28, basic/transports/stdio)."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, TypeAlias

from django.core.signals import request_finished, request_started
from rest_framework.exceptions import APIException, AuthenticationFailed, NotAuthenticated

from drf_mcp.access.authentication import Caller
from drf_mcp.dispatch.error_bodies import find_sentence
from drf_mcp.dispatch.failures import report_unexpected
from drf_mcp.exceptions import ParseError, ProtocolError, Refused, catch
from drf_mcp.interaction.exchange import Channel
from drf_mcp.protocol import ClientResponse, HandshakeEra, Message, encode_era_error, jsonrpc
from drf_mcp.protocol.constants import (
    PROTOCOL_VERSION_HEADER,
    PROTOCOL_VERSION_KEY,
    STATELESS_REVISION,
)
from drf_mcp.server import Server
from drf_mcp.settings import mcp_settings

Item: TypeAlias = Message | ClientResponse | ProtocolError

CANCELLED = "notifications/cancelled"
# How long the process waits for running calls before it ends.
SECONDS_TO_FINISH = 3.0


@dataclass(eq=False)
class Work:
    """A line of the client, which is answered unless the client cancels it.

    Attributes:
        headers: the headers that name the revision, as in an HTTP request.
        channel: sends notifications while the line is answered.
    """

    decoded: Item
    headers: dict[str, str] | None = None
    cancelled: bool = False
    channel: Channel | None = None

    @property
    def ids(self) -> list[Any]:
        # Of a request, or of a message that could not be read.
        item = self.decoded
        is_open = isinstance(item, Message) and not item.is_notification
        return [item.id] if is_open or isinstance(item, ProtocolError) else []


class StdioConnection:
    """Reads and answers the lines of one client.

    Attributes:
        revision: what ``initialize`` negotiated, for the later messages of that era.
        session_headers: the headers of the answer to ``initialize``, for each later message.
        stateless: whether a message of 2026-07-28 was received.
    """

    def __init__(
        self, server: Server, make_caller: Callable[[], Caller], write: Callable[[bytes], None]
    ) -> None:
        self.server = server
        self.make_caller = make_caller
        self.write = write
        self.revision: str | None = None
        self.session_headers: Mapping[str, str] = {}
        self.stateless = False
        self._open: dict[Any, Work] = {}
        self._lock = threading.Lock()
        self._writing = threading.Lock()

    def receive(self, line: bytes | ProtocolError) -> Work | None:
        """Read a line, or take the error of reading it; None where there is nothing to answer.

        Lines are received one after the other, and answered in any order.
        """
        if isinstance(line, bytes) and not line.strip():
            return None
        decoded: Item
        try:
            if isinstance(line, ProtocolError):
                raise line
            decoded = jsonrpc.decode(line)
        except ProtocolError as exc:
            decoded = exc
        if isinstance(decoded, Message):
            if decoded.method == CANCELLED:
                self.cancel(decoded.params.get("requestId"))
                return None
            if decoded.method == "initialize" and PROTOCOL_VERSION_KEY not in decoded.meta:
                self.revision = HandshakeEra.negotiate(decoded.params.get("protocolVersion"))
        work, revision = Work(decoded), self.revision
        if isinstance(decoded, Message) and PROTOCOL_VERSION_KEY in decoded.meta:
            self.stateless, revision = True, None
        # An unreadable line is answered in the revision of the earlier lines.
        elif revision is None and self.stateless and isinstance(decoded, ProtocolError):
            revision = STATELESS_REVISION
        if revision is not None:
            work.headers = {PROTOCOL_VERSION_HEADER: revision, **self.session_headers}
        with self._lock:
            self._open.update(dict.fromkeys(work.ids, work))
        return work

    def cancel(self, request_id: Any) -> None:
        """Cancel a request: one that waits does not start, one that runs is not answered."""
        with self._lock:
            work = self._open.get(jsonrpc.to_request_id(request_id))
            if work is not None and isinstance(work.decoded, Message):
                work.cancelled = work.decoded.method != "initialize"
                if work.cancelled and work.channel is not None:
                    work.channel.cancel()

    def cancel_waiting(self) -> None:
        with self._lock:
            for work in self._open.values():
                work.cancelled = True

    def answer(self, work: Work) -> None:
        body = b""
        if not work.cancelled:
            # On these signals Django closes old connections and resets caches.
            request_started.send(sender=type(self), environ={})
            try:
                body = self._reply(work)
            finally:
                request_finished.send(sender=type(self))
        with self._lock:
            for request_id in work.ids:
                if self._open.get(request_id) is work:
                    del self._open[request_id]
        # Another lock, so that lines are received while the client is slow to read.
        with self._writing:
            if body and not work.cancelled:
                self.write(body)

    def _reply(self, work: Work) -> bytes:
        with catch() as caught:
            caller = self.make_caller()
            send = partial(self.send, work)
            caller.channel = work.channel = Channel(send, is_live=True, shares_threads=True)
            if work.cancelled:
                work.channel.cancel()
            reply = self.server.handle_message(work.decoded, work.headers, caller)
            if isinstance(work.decoded, Message) and work.decoded.method == "initialize":
                self.session_headers = reply.headers or {}
            return reply.body
        exc = caught.exception
        if not isinstance(exc, APIException):
            return self.refuse(work, report_unexpected(exc, None))
        unknown = isinstance(exc, (NotAuthenticated, AuthenticationFailed))
        status = 401 if unknown else exc.status_code
        return self.refuse(work, Refused(status, find_sentence(exc.detail)))

    def send(
        self, work: Work, method: str, params: Mapping[str, Any], id: str | None = None
    ) -> None:
        with self._writing:
            if not work.cancelled:
                self.write(jsonrpc.encode_message(method, params, id))

    def refuse(self, work: Work, error: ProtocolError) -> bytes:
        return b"".join(encode_era_error(id, error, work.headers) for id in work.ids)


class Stopped(BaseException):
    """Raised in the main thread when the process has to end."""


class StdioServer:
    """Answers the lines of a stream, in threads."""

    def __init__(self, connection: StdioConnection, threads: int = 4) -> None:
        self.connection = connection
        self.waiting: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self.workers = [threading.Thread(target=self.work, daemon=True) for _ in range(threads)]

    def serve(self, stream: BinaryIO) -> None:
        """Answer lines until the stream ends or `Stopped` is raised.

        At the end of the stream every request is answered; when stopped, only running requests.
        """
        for worker in self.workers:
            worker.start()
        try:
            for line in self.read_lines(stream):
                work = self.connection.receive(line)
                if work is not None:
                    self.waiting.put(work)
            self.finish(None)
        except Stopped:
            self.connection.cancel_waiting()
            self.finish(SECONDS_TO_FINISH)

    def work(self) -> None:
        while (work := self.waiting.get()) is not None:
            try:
                self.connection.answer(work)
            except OSError:  # The client is gone.
                self.connection.cancel_waiting()

    def finish(self, seconds: float | None) -> None:
        for _worker in self.workers:
            self.waiting.put(None)
        deadline = None if seconds is None else time.monotonic() + seconds
        for worker in self.workers:
            worker.join(None if deadline is None else max(deadline - time.monotonic(), 0))

    def read_lines(self, stream: BinaryIO) -> Iterator[bytes | ProtocolError]:
        limit = mcp_settings.MAX_BODY_BYTES
        while line := stream.readline(limit + 1):
            if len(line) <= limit or line.endswith(b"\n"):
                yield line
                continue
            while line and not line.endswith(b"\n"):
                line = stream.readline(limit)
            yield ParseError(f"The line is longer than {limit} bytes.")
