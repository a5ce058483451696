"""Requests measured in turns: processor time and SQL statements."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from benchmarks.requests import Request, Server

# Requests that fill every cache before the measurement.
WARMING = 3
# After a tenth of the rounds, a measurement ends when it has taken these processor seconds.
SECONDS = 2.0


@dataclass(frozen=True)
class Cost:
    """The least processor milliseconds of a request, and its SQL statements."""

    milliseconds: float
    statements: int


def measure(server: Server, *requests: Request, rounds: int) -> list[Cost]:
    """Send requests in turns, so that other load slows down all of them."""
    with ExitStack() as stack:
        for request in requests:
            stack.enter_context(override_settings(**request.settings))
            for _ in range(WARMING):
                server.measured(request, lambda answer: answer())
        statements = [
            min(server.measured(request, count_statements) for _ in range(2))
            for request in requests
        ]
        seconds = find_least_seconds(server, requests, rounds)
    pairs = zip(seconds, statements, strict=True)
    return [Cost(least * 1000, count) for least, count in pairs]


def find_least_seconds(server: Server, requests: tuple[Request, ...], rounds: int) -> list[float]:
    least = [float("inf")] * len(requests)
    started = time.process_time()
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            if turn * 10 >= rounds and time.process_time() - started > SECONDS:
                break
            # The first request of a turn finds the processor's caches as the other left them.
            numbers = range(len(requests))
            for number in numbers if turn % 2 else reversed(numbers):
                for _ in range(2):
                    seconds = server.measured(requests[number], count_seconds)
                    least[number] = min(least[number], seconds)
            if turn % 20 == 19:
                gc.collect()
    finally:
        gc.enable()
    return least


def succeeds(server: Server, request: Request) -> bool:
    """Return whether both HTTP status and MCP result are a success."""
    status, content = server.send(request)
    return status < 400 and b'"isError":true' not in content


def count_statements(answer: Callable[[], Any]) -> int:
    """Return the number of SQL statements, without the savepoints of the transaction around it."""
    with CaptureQueriesContext(connection) as captured:
        answer()
    return sum("SAVEPOINT" not in each["sql"] for each in captured)


def count_seconds(answer: Callable[[], Any]) -> float:
    """Return the processor time that this thread takes for an answer."""
    started = time.thread_time()
    answer()
    return time.thread_time() - started
