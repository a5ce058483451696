"""What waits for a client ends when the server is told to stop: the server waits for it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any


class StopSignal:
    """Notes SIGTERM and SIGINT, so that what waits for a client can end, and then calls the server.

    Attributes:
        was_sent: whether the process was told to stop.
        wakes: what is called to end waits. None of them may take a lock.
    """

    was_sent = False
    wakes: set[Callable[[], Any]] = set()

    def __init__(self, before: Callable[..., Any]) -> None:
        self.before = before

    def __call__(self, number: int, frame: Any) -> None:
        StopSignal.was_sent = True
        for wake in list(self.wakes):
            wake()
        self.before(number, frame)

    @classmethod
    def follow(cls) -> None:
        """Come before the handlers of the server, if it has any by now, in the main thread."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGTERM, signal.SIGINT):
            before: Any = signal.getsignal(number)
            # Without a handler of the server's own, the process ends at once.
            is_default = not callable(before) or before is signal.default_int_handler
            if is_default or isinstance(before, StopSignal):
                continue
            # uvicorn may have been told to stop before this handler was there.
            server = getattr(before, "__self__", None)
            StopSignal.was_sent |= getattr(server, "should_exit", False) is True
            signal.signal(number, cls(before))
