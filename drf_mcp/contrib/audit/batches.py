"""Records that wait to be written together, and the thread that writes them."""

from __future__ import annotations

import atexit
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias
from weakref import WeakSet

from django.db import connections

logger = logging.getLogger("drf_mcp")

# The values of a row.
Record: TypeAlias = Mapping[str, Any]


class RecordBatch:
    """Keeps records until a thread of the process writes them together, within a second.

    Args:
        write: writes records, and returns those that the database could not take now.
    """

    # Half a second to wait leaves half a second to write.
    seconds = 0.5
    # A server may run no threads besides its requests (uWSGI): then a request writes.
    max_seconds = 2.0
    # Kept while the database is away.
    max_waiting = 10_000
    # Set by a signal that ends the process: what comes from then on is written at once.
    is_stopping = threading.Event()

    def __init__(self, write: Callable[[Sequence[Record]], Sequence[Record]]) -> None:
        self.write = write
        self.begin()
        batches.add(self)

    def begin(self) -> None:
        # What waits when a process forks is written by the parent, whose thread the child has not.
        self.waiting: list[Record] = []
        self.thread: threading.Thread | None = None
        self.late = 0.0
        self.lock, self.writing = threading.Lock(), threading.Lock()

    def add(self, record: Record) -> None:
        """Keep a record, to be written soon."""
        now = time.monotonic()
        with self.lock:
            if not self.waiting:
                self.late = now + self.max_seconds
            self.waiting.append(record)
            is_late = now > self.late
            if self.thread is None and not self.is_stopping.is_set():
                self.thread = threading.Thread(target=self.run, daemon=True)
                self.thread.start()
        if is_late or self.is_stopping.is_set():
            self.flush()

    def run(self) -> None:
        while True:
            self.is_stopping.wait(self.seconds)
            self.flush()
            connections.close_all()
            with self.lock:
                if not self.waiting or self.is_stopping.is_set():
                    self.thread = None
                    return

    def flush(self) -> None:
        """Write what waits; return when all that was added before is written."""
        with self.writing:
            with self.lock:
                records, self.waiting = self.waiting, []
            if records and (left := self.write(records)):
                with self.lock:
                    kept = [*left, *self.waiting]
                    self.waiting = kept[-self.max_waiting :]
                    self.late = time.monotonic() + self.max_seconds
                if lost := len(kept) - len(self.waiting):
                    logger.error("The audit of %d calls is lost: the database is away", lost)


batches: WeakSet[RecordBatch] = WeakSet()


def flush_at_exit() -> None:
    for batch in [*batches]:
        batch.flush()
        if batch.waiting:
            logger.error("The audit of %d calls is lost at the exit", len(batch.waiting))


def begin_in_child() -> None:
    for batch in [*batches]:
        batch.begin()


atexit.register(flush_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=begin_in_child)


def flush_at_signal() -> None:
    """Write what waits when uvicorn stops: it ends by the signal itself, without `atexit`."""
    is_main = threading.current_thread() is threading.main_thread()
    if "uvicorn" not in sys.modules or not is_main:
        return
    before = signal.getsignal(signal.SIGTERM)

    def stop(number: int, frame: Any) -> None:
        RecordBatch.is_stopping.set()
        # Not here: the signal may interrupt a statement of this very thread.
        for thread in [batch.thread for batch in batches]:
            if thread is not None:
                thread.join(1.0)
        if callable(before):
            before(number, frame)
        elif before == signal.SIG_DFL:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    signal.signal(signal.SIGTERM, stop)
