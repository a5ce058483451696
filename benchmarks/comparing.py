"""Two requests compared: function calls, SQL statements and time."""

from __future__ import annotations

import cProfile
import gc
import pstats
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from benchmarks.requests import Request, Server

# Requests that fill every cache before the measurement.
WARMING = 3
# Requests of one kind sent in a row.
IN_A_ROW = 3
# Requests that are counted. The least counts, because one of 16 requests that store an answer also
# deletes expired answers.
COUNTED = 3


@dataclass(frozen=True)
class Comparison:
    """A request, and the request that it is compared with.

    Attributes:
        name: the name of the comparison.
        plain: the request that counts as 1.
        measured: the request that is measured.
        rounds: the most rounds; None for any number.
    """

    name: str
    plain: Request
    measured: Request
    rounds: int | None = None

    def run(self, server: Server, rounds: int) -> Figures:
        """Measure both requests in turns."""
        rounds = min(rounds, self.rounds or rounds)
        plain, measured = Cost(), Cost()
        pairs = [(self.plain, plain), (self.measured, measured)]
        if succeeds(server, self.plain) != succeeds(server, self.measured):
            raise RuntimeError(f"{self.name}: one of the two requests fails.")
        for request, cost in pairs:
            with warm(server, request):
                cost.calls = least(server, request, function_calls)
                cost.statements = least(server, request, statements)
        for turn in range(rounds):
            # The first request of a turn runs with the processor's caches as the other request left
            # them.
            for request, cost in pairs if turn % 2 else reversed(pairs):
                with warm(server, request):
                    cost.seconds += [server.measured(request, seconds) for _ in range(IN_A_ROW)]
        return Figures(self.name, plain, measured)


@dataclass
class Cost:
    """The cost of a request.

    Attributes:
        calls: function calls, of Python and of C.
        statements: SQL statements.
        seconds: the duration of each request.
    """

    calls: int = 0
    statements: int = 0
    seconds: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Figures:
    """The result of a comparison.

    Attributes:
        name: the name of the comparison.
        plain: the cost that counts as 1.
        measured: the cost that was measured.
    """

    name: str
    plain: Cost
    measured: Cost

    @property
    def calls(self) -> float:
        """The function calls as a multiple of the plain request's."""
        return self.measured.calls / self.plain.calls

    @property
    def extra_calls(self) -> int:
        """The function calls that the plain request does not make."""
        return self.measured.calls - self.plain.calls

    @property
    def extra_statements(self) -> int:
        """The SQL statements that the plain request does not run."""
        return self.measured.statements - self.plain.statements

    @property
    def fastest(self) -> float:
        """The time of the fastest as a multiple of the plain request's fastest."""
        return min(self.measured.seconds) / min(self.plain.seconds)

    @property
    def median(self) -> float:
        """The median time as a multiple of the plain request's."""
        return statistics.median(self.measured.seconds) / statistics.median(self.plain.seconds)


def succeeds(server: Server, request: Request) -> bool:
    """Return whether both HTTP status and MCP result are a success."""
    status, content = server.send(request)
    return status < 400 and b'"isError":true' not in content


@contextmanager
def warm(server: Server, request: Request) -> Iterator[None]:
    """Send a request until every cache is filled; its settings apply within the block."""
    with override_settings(**request.settings):
        for _ in range(WARMING):
            server.measured(request, lambda answer: answer())
        yield


def least(server: Server, request: Request, count: Callable[[Callable[[], Any]], int]) -> int:
    """Return the least count of several equal requests."""
    return min(server.measured(request, count) for _ in range(COUNTED))


def function_calls(answer: Callable[[], Any]) -> int:
    """Return the number of function calls, those of C included, without garbage collection."""
    profile = cProfile.Profile()
    with without_garbage_collection():
        profile.runcall(answer)
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def statements(answer: Callable[[], Any]) -> int:
    """Return the number of SQL statements."""
    with CaptureQueriesContext(connection) as captured:
        answer()
    return len(captured)


def kilobytes(answer: Callable[[], Any]) -> int:
    """Return the most kilobytes that Python uses at once for an answer."""
    gc.collect()
    tracemalloc.start()
    try:
        answer()
        return tracemalloc.get_traced_memory()[1] // 1000
    finally:
        tracemalloc.stop()


def seconds(answer: Callable[[], Any]) -> float:
    """Return the duration of an answer, without garbage collection."""
    with without_garbage_collection():
        started = time.perf_counter()
        answer()
        return time.perf_counter() - started


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Collect garbage before the block and none within it."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
