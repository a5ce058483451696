"""Standard streams of a process that speaks a protocol on them; imports nothing of Django."""

from __future__ import annotations

import functools
import io
import os
import select
import signal
import sys
from typing import Any, BinaryIO


@functools.cache
def take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return stdin and stdout as they were, and leave nothing but stderr to everybody else."""
    protocol_in, protocol_out = os.dup(0), os.dup(1)
    # Descriptors, not sys.stdout alone: libraries in C and child processes print too.
    os.dup2(2, 1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    # Text that was printed before and waits in the buffer goes to stderr as well.
    sys.stdout.flush()
    sys.stdout = sys.stderr
    return os.fdopen(protocol_in, "rb"), os.fdopen(protocol_out, "wb")


class SignalledInput(io.RawIOBase):
    """Reads a descriptor so that no signal is missed while it waits for more."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        # A signal between the last look at signals and the beginning of a `read` would otherwise
        # wait for the next line, which may never come; so would one given to another thread.
        self.signalled, wakeup = os.pipe()
        os.set_blocking(wakeup, False)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)

    @classmethod
    def wrap(cls, stream: BinaryIO) -> BinaryIO:
        """Return a stream that signals interrupt, as far as the system allows."""
        if sys.platform == "win32":  # Only sockets can be waited for there.
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
