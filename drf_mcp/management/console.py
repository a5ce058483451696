"""The standard streams of a command; imports nothing of Django.

``python -m drf_mcp`` takes the streams before anything of the project is imported.
"""

from __future__ import annotations

import contextlib
import functools
import io
import logging
import os
import select
import signal
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

# The exit code of a shell for a program that a closed pipe ends.
CLOSED_PIPE = 128 + signal.SIGPIPE if hasattr(signal, "SIGPIPE") else 1


@contextlib.contextmanager
def quiet_pipe() -> Iterator[None]:
    """End the process silently when the reader of a pipe has gone, as in ``| head -1``."""
    try:
        yield
    except BrokenPipeError:
        # Python writes the rest of the buffer when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(CLOSED_PIPE)


@contextlib.contextmanager
def quiet_console() -> Iterator[list[logging.LogRecord]]:
    """Keep tracebacks off the terminal, and yield the records that were kept off.

    Handlers that write elsewhere, such as to files, get the records.
    """
    kept: list[logging.LogRecord] = []

    def keep(record: logging.LogRecord) -> bool:
        if record.exc_info:
            kept.append(record)
        return not record.exc_info

    named = logging.root.manager.loggerDict.values()
    loggers = [logging.root, *(one for one in named if isinstance(one, logging.Logger))]
    handlers = {handler for logger in loggers for handler in logger.handlers}
    handlers |= {logging.lastResort} if logging.lastResort else set()
    streams = (sys.stdout, sys.stderr)
    console = [each for each in handlers if getattr(each, "stream", None) in streams]
    for handler in console:
        handler.addFilter(keep)
    try:
        yield kept
    finally:
        for handler in console:
            handler.removeFilter(keep)


@functools.cache
def take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return stdin and stdout for the protocol, and leave only stderr to all other code."""
    protocol_in, protocol_out = os.dup(0), os.dup(1)
    # By descriptors, not only sys.stdout: libraries in C and child processes print, too.
    os.dup2(2, 1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    # The rest of the buffer goes to stderr.
    sys.stdout.flush()
    sys.stdout = sys.stderr
    return os.fdopen(protocol_in, "rb"), os.fdopen(protocol_out, "wb")


class SignalledInput(io.RawIOBase):
    """Reads a descriptor, and runs the handlers of signals while it waits for input."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        # Without the pipe, a signal that arrives just before `read` blocks, or in another thread,
        # is handled only when the next line arrives.
        self.signalled, wakeup = os.pipe()
        os.set_blocking(wakeup, False)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)

    @classmethod
    def wrap(cls, stream: BinaryIO) -> BinaryIO:
        """Return a stream that signals interrupt, except on Windows."""
        if sys.platform == "win32":  # select() takes only sockets on Windows.
            return stream
        return io.BufferedReader(cls(stream.fileno()))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            ready, _, _ = select.select([self.descriptor, self.signalled], [], [])
            if self.descriptor in ready:
                data = os.read(self.descriptor, len(buffer))
                buffer[: len(data)] = data
                return len(data)
            # The signal's handler runs before the next line of this loop.
            os.read(self.signalled, 1)
