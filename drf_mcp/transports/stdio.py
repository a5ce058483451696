"""The stdio door: one message a line, for clients that start the server themselves.

One process serves one connection, so the revision that ``initialize`` settled on is
kept here and given to the pipeline with every later message of that era
(2026-07-28, basic/transports/stdio; 2025-11-25, basic/transports).
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias

from django.core.signals import request_finished, request_started
from rest_framework.exceptions import APIException, AuthenticationFailed, NotAuthenticated

from drf_mcp.access.authentication import Caller
from drf_mcp.dispatch.dispatcher import unexpected
from drf_mcp.dispatch.errors.body import ErrorBody
from drf_mcp.exceptions import ParseError, ProtocolError, Refused, contain
from drf_mcp.protocol import ClientResponse, HandshakeEra, Message, encode_era_error, jsonrpc
from drf_mcp.protocol.constants import (
    PROTOCOL_VERSION_HEADER,
    PROTOCOL_VERSION_KEY,
    STATELESS_REVISION,
)
from drf_mcp.server import Server
from drf_mcp.settings import mcp_settings

Item: TypeAlias = Message | ClientResponse | ProtocolError
Decoded: TypeAlias = Item | list[Item]

CANCELLED = "notifications/cancelled"
# How long calls that run are waited for when the process is told to end.
SECONDS_TO_FINISH = 3.0


@dataclass(eq=False)
class Work:
    """One line of the client's, to be answered unless the client gives it up.

    Attributes:
        decoded: what the line held.
        headers: what the HTTP door would be told of the revision, None for nothing.
        cancelled: True once nobody waits for the answer.
    """

    decoded: Decoded
    headers: dict[str, str] | None
    cancelled: bool = False

    @property
    def ids(self) -> list[Any]:
        """The ids that answers repeat: of requests, and of what could not be read."""
        items = self.decoded if isinstance(self.decoded, list) else [self.decoded]
        return [item.id for item in items if is_answered(item)]


def is_answered(item: Item) -> bool:
    """Return whether an answer is due, be it an error."""
    if isinstance(item, Message):
        return not item.is_notification
    return isinstance(item, ProtocolError)


class Connection:
    """One client's connection: lines in, answers out.

    Args:
        server: the endpoint.
        caller: makes the caller of one message, as each HTTP request has its own.
        write: sends an answer, one line without its end.
    """

    def __init__(
        self, server: Server, caller: Callable[[], Caller], write: Callable[[bytes], None]
    ) -> None:
        self.server = server
        self.caller = caller
        self.write = write
        self.revision: str | None = None
        self.stateless = False
        self._open: dict[Any, Work] = {}
        self._lock = threading.Lock()
        self._writing = threading.Lock()

    def receive(self, line: bytes | ProtocolError) -> Work | None:
        """Read a line, or what is wrong with it; None where there is nothing to do.

        Lines are read in their order, whatever order they are answered in.
        """
        if isinstance(line, bytes) and not line.strip():
            return None
        decoded: Decoded
        try:
            if isinstance(line, ProtocolError):
                raise line
            decoded = jsonrpc.decode(line, mcp_settings.MAX_BATCH_MESSAGES)
        except ProtocolError as exc:
            decoded = exc
        if isinstance(decoded, Message):
            if decoded.method == CANCELLED:
                self.cancel(decoded.params.get("requestId"))
                return None
            if decoded.method == "initialize" and PROTOCOL_VERSION_KEY not in decoded.meta:
                self.revision = HandshakeEra.negotiate(decoded.params.get("protocolVersion"))
        work = Work(decoded, self.headers_of(decoded))
        with self._lock:
            self._open.update(dict.fromkeys(work.ids, work))
        return work

    def headers_of(self, decoded: Decoded) -> dict[str, str] | None:
        """Return the header that names the connection's revision, None at the stateless era.

        What cannot be read is answered in the revision spoken so far.
        """
        if isinstance(decoded, Message) and PROTOCOL_VERSION_KEY in decoded.meta:
            self.stateless = True
            return None
        revision = self.revision
        if revision is None and self.stateless and isinstance(decoded, ProtocolError):
            revision = STATELESS_REVISION
        return None if revision is None else {PROTOCOL_VERSION_HEADER: revision}

    def cancel(self, request_id: Any) -> None:
        """Give up a request: one that waits is not begun, one that runs is not answered.

        Only a request of its own is given up; a batch is answered as a whole.
        """
        with self._lock:
            work = self._open.get(jsonrpc.to_request_id(request_id))
            if work is not None and isinstance(work.decoded, Message):
                work.cancelled = work.decoded.method != "initialize"

    def cancel_waiting(self) -> None:
        """Give up whatever is open."""
        with self._lock:
            for work in self._open.values():
                work.cancelled = True

    def answer(self, work: Work) -> None:
        """Answer a line, unless the client gives it up meanwhile."""
        body = b"" if work.cancelled else self.body_of(work)
        with self._lock:
            for request_id in work.ids:
                if self._open.get(request_id) is work:
                    del self._open[request_id]
        # The lock of its own lets lines be read while the client does not read answers.
        with self._writing:
            if body and not work.cancelled:
                self.write(body)

    def body_of(self, work: Work) -> bytes:
        """Return the answer, empty when none is due, between Django's signals of a request."""
        request_started.send(sender=type(self), environ={})
        try:
            return contain(
                lambda: self.reply(work), lambda exc: refusals(work, unexpected(exc, None))
            )
        finally:
            request_finished.send(sender=type(self))

    def reply(self, work: Work) -> bytes:
        """Return the pipeline's answer, or the errors for a caller whom it does not let in."""
        try:
            caller = self.caller()
            if isinstance(work.decoded, list):
                return self.server.answer_batch(work.decoded, work.headers, caller).body
            return self.server.respond(work.decoded, work.headers, caller).body
        except APIException as exc:
            return refusals(work, turned_away(exc))


def turned_away(exc: APIException) -> ProtocolError:
    """Return the error for a caller who is not let in; its code is the HTTP status."""
    unknown = isinstance(exc, (NotAuthenticated, AuthenticationFailed))
    return Refused(401 if unknown else exc.status_code, ErrorBody(exc.detail).sentence)


def refusals(work: Work, error: ProtocolError) -> bytes:
    """Return the error for each request of a line."""
    errors = [encode_era_error(request_id, error, work.headers) for request_id in work.ids]
    return (
        jsonrpc.join_batch(errors)
        if errors and isinstance(work.decoded, list)
        else b"".join(errors)
    )


class Stopped(BaseException):
    """Raised in the main thread when the process is told to end."""


def serve(connection: Connection, stream: BinaryIO, threads: int) -> None:
    """Answer the lines of a stream, in several threads, until it ends or `Stopped` is raised.

    At the stream's end everything that was asked is answered; when stopped, only what
    runs already.
    """
    waiting: queue.SimpleQueue[Work | None] = queue.SimpleQueue()

    def work_off() -> None:
        while (work := waiting.get()) is not None:
            try:
                connection.answer(work)
            except OSError:  # the client is gone
                connection.cancel_waiting()

    workers = [threading.Thread(target=work_off, daemon=True) for _ in range(threads)]
    for worker in workers:
        worker.start()
    try:
        for line in lines(stream):
            work = connection.receive(line)
            if work is not None:
                waiting.put(work)
        finish(workers, waiting, None)
    except Stopped:
        connection.cancel_waiting()
        finish(workers, waiting, SECONDS_TO_FINISH)


def finish(
    workers: list[threading.Thread],
    waiting: queue.SimpleQueue[Work | None],
    seconds: float | None,
) -> None:
    """Let every worker end, waiting no longer than this for all of them."""
    for _ in workers:
        waiting.put(None)
    deadline = None if seconds is None else time.monotonic() + seconds
    for worker in workers:
        worker.join(None if deadline is None else max(deadline - time.monotonic(), 0))


def lines(stream: BinaryIO) -> Iterator[bytes | ProtocolError]:
    """Yield the lines of a stream; in the place of one over MAX_BODY_BYTES, its error."""
    limit = mcp_settings.MAX_BODY_BYTES
    while line := stream.readline(limit + 1):
        if len(line) <= limit or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(limit)
        yield ParseError(f"The line is longer than {limit} bytes.")
