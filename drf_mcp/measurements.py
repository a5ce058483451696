"""How long a call took, and what it asked of the databases."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from django.db import connections

from drf_mcp.settings import mcp_settings


class Stopwatch:
    """Measures one call from its making on."""

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.queries = 0
        self.query_seconds = 0.0

    def __call__(self, execute: Callable[..., Any], *args: Any) -> Any:
        """Count and time a query, as a wrapper of Django's ``execute_wrapper``."""
        began = time.perf_counter()
        try:
            return execute(*args)
        finally:
            self.queries += 1
            self.query_seconds += time.perf_counter() - began

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Count the queries of every connection inside, where TELEMETRY is on."""
        if not mcp_settings.TELEMETRY:
            yield
            return
        with ExitStack() as stack:
            for connection in connections.all():
                stack.enter_context(connection.execute_wrapper(self))
            yield

    def telemetry(self) -> dict[str, Any]:
        """Return the measurements: milliseconds, and queries where they were counted."""
        measured: dict[str, Any] = {"duration_ms": milliseconds(time.perf_counter() - self.started)}
        if mcp_settings.TELEMETRY:
            measured["database_queries"] = self.queries
            measured["database_ms"] = milliseconds(self.query_seconds)
        return measured


def milliseconds(seconds: float) -> float:
    """Return seconds as milliseconds, to a hundredth."""
    return round(seconds * 1000, 2)
