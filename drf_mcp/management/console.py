"""What stays off a terminal: the end of a pipe, and the log of what an answer says itself."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
from collections.abc import Iterator

# As a shell has it for a program that a closed pipe ends.
CLOSED_PIPE = 128 + signal.SIGPIPE if hasattr(signal, "SIGPIPE") else 1


@contextlib.contextmanager
def quiet_pipe() -> Iterator[None]:
    """End the process without a word once nobody reads what it prints, as in ``| head -1``."""
    try:
        yield
    except BrokenPipeError:
        # What waits in the buffer is written when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(CLOSED_PIPE)


@contextlib.contextmanager
def quiet_console() -> Iterator[list[logging.LogRecord]]:
    """Keep tracebacks from handlers that write to the terminal, and give what was kept.

    Files and services get them.
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
