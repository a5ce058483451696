"""How long a call took, and what it asked of the databases."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

from django.conf import settings
from django.db import connections

from drf_mcp.settings import mcp_settings

# How often one statement may run before it is worth a hint, and how long it may take.
MANY = 10
SLOW_SECONDS = 0.1
# How much of a statement a hint shows.
MAX_STATEMENT = 120

# Literals, placeholders and lists of them: what two runs of one statement may differ in.
VALUES = re.compile(r"'(?:[^']|'')*'|\b\d+(?:\.\d+)?\b|%s|%\(\w+\)s|\?")
VALUE_LISTS = re.compile(r"…(?:\s*,\s*…)+")
READS = ("SELECT", "WITH")
STATEMENTS = (*READS, "INSERT", "UPDATE", "DELETE")


UNWATCHED: AbstractContextManager[None] = nullcontext()


class Stopwatch:
    """Measures one call from its making on; queries too, where TELEMETRY or DEBUG is on."""

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.counting = bool(mcp_settings.TELEMETRY or settings.DEBUG)
        self.statements: dict[str, int] = {}
        self.query_seconds = 0.0
        self.slowest = (0.0, "")

    def __call__(self, execute: Callable[..., Any], sql: str, *args: Any) -> Any:
        """Count and time a query, as a wrapper of Django's ``execute_wrapper``."""
        began = time.perf_counter()
        try:
            return execute(sql, *args)
        finally:
            seconds = time.perf_counter() - began
            self.statements[str(sql)] = self.statements.get(str(sql), 0) + 1
            self.query_seconds += seconds
            if seconds > self.slowest[0]:
                self.slowest = (seconds, str(sql))

    def watching(self) -> AbstractContextManager[None]:
        """Return a context in which queries are counted, if they are to be."""
        return self.counted() if self.counting else UNWATCHED

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the queries of every connection inside."""
        with ExitStack() as stack:
            for connection in connections.all():
                stack.enter_context(connection.execute_wrapper(self))
            yield

    def telemetry(self) -> dict[str, Any]:
        """Return the measurements: milliseconds, and queries where they were counted."""
        measured: dict[str, Any] = {"duration_ms": milliseconds(time.perf_counter() - self.started)}
        if self.counting:
            measured["database_queries"] = sum(self.statements.values())
            measured["database_ms"] = milliseconds(self.query_seconds)
            if self.statements:
                measured["slowest_query_ms"] = milliseconds(self.slowest[0])
            if hints := " ".join(self.hints()):
                measured["database_hint"] = hints
        return measured

    def hints(self) -> Iterator[str]:
        """Yield what could be faster, in sentences; SQL is shown only while DEBUG is on."""
        shapes: Counter[str] = Counter()
        for sql, count in self.statements.items():
            if sql.lstrip().upper().startswith(STATEMENTS):
                shapes[shape(sql)] += count
        for statement, count in shapes.most_common(1):
            if count >= MANY:
                yield f"The same statement ran {count} times{shown(statement)}. {remedy(statement)}"
        seconds, sql = self.slowest
        if seconds >= SLOW_SECONDS:
            yield f"The slowest statement took {seconds * 1000:.0f} ms{shown(shape(sql))}."


def shape(sql: str) -> str:
    """Return a statement without its values, the same for every run of it."""
    return VALUE_LISTS.sub("…", VALUES.sub("…", sql)).strip()


def shown(statement: str) -> str:
    """Return the start of a statement as part of a sentence; nothing unless DEBUG is on."""
    if not settings.DEBUG:
        return ""
    text = " ".join(statement.split())
    return f": {text[:MAX_STATEMENT]}{'…' if len(text) > MAX_STATEMENT else ''}"


def remedy(statement: str) -> str:
    """Return what makes one statement of many."""
    if statement.upper().startswith(READS):
        return "Fetch related rows at once, with select_related or prefetch_related."
    return "Write rows together, with bulk_create, bulk_update or a queryset's update or delete."


def milliseconds(seconds: float) -> float:
    """Return seconds as milliseconds, to a hundredth."""
    return round(seconds * 1000, 2)
