"""A live server for the project, which runs in the thread that waits for the answer."""

from __future__ import annotations

import select
import sys
from typing import IO, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import got_request_exception, request_finished, request_started
from django.db import close_old_connections


class QuietHandler(WSGIRequestHandler):
    """Writes no log, and closes the connection after each request."""

    def log_message(self, format: str, *arguments: Any) -> None: ...


class LiveServer:
    """Serves HTTP only while a caller waits for a line, on the database connection of this process.

    What a request writes can therefore be rolled back like the writes of a tool call.

    Attributes:
        crash: the exception that a view raised during the last wait, None for none.
    """

    def __init__(self) -> None:
        self.server = WSGIServer(("127.0.0.1", 0), QuietHandler)
        self.server.set_app(WSGIHandler())
        self.crash: BaseException | None = None
        got_request_exception.connect(self.note_crash)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def note_crash(self, **kwargs: Any) -> None:
        self.crash = sys.exc_info()[1]

    def wait_for_line(self, stream: IO[str]) -> str:
        """Return the next line of a stream; serve requests until the line arrives."""
        self.crash = None
        while True:
            ready, _, _ = select.select([self.server, stream], [], [])
            if stream in ready:
                return stream.readline()
            self.serve()

    def serve(self) -> None:
        # The requests use the database connection of this process, so it has to stay open.
        signals = (request_started, request_finished)
        for signal in signals:
            signal.disconnect(close_old_connections)
        self.server.handle_request()
        for signal in signals:
            signal.connect(close_old_connections)

    def close(self) -> None:
        got_request_exception.disconnect(self.note_crash)
        self.server.server_close()
