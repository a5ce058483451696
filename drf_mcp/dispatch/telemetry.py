"""How long a call took, and what it asked of the databases."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from django.conf import settings
from django.db import connections
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

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


class Stopwatch:
    """Measures one call from its making on, for its telemetry where TELEMETRY or DEBUG is on."""

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.counts_queries = bool(mcp_settings.TELEMETRY or settings.DEBUG)
        self.statements: dict[str, int] = {}
        self.query_seconds = 0.0
        self.slowest = (0.0, "")

    def __call__(self, execute: Callable[..., Any], sql: str, *args: Any) -> Any:
        # A wrapper for Django's ``execute_wrapper``.
        began = time.perf_counter()
        try:
            return execute(sql, *args)
        finally:
            seconds = time.perf_counter() - began
            self.statements[str(sql)] = self.statements.get(str(sql), 0) + 1
            self.query_seconds += seconds
            if seconds > self.slowest[0]:
                self.slowest = (seconds, str(sql))

    @contextmanager
    def watching(self) -> Iterator[None]:
        with ExitStack() as stack:
            for connection in connections.all():
                stack.enter_context(connection.execute_wrapper(self))
            yield

    @property
    def duration_ms(self) -> float:
        return round((time.perf_counter() - self.started) * 1000, 2)

    def telemetry(self) -> dict[str, Any]:
        # A duration helps no agent, and costs ten tokens.
        if not self.counts_queries:
            return {}
        measured: dict[str, Any] = {
            "duration_ms": self.duration_ms,
            "database_queries": sum(self.statements.values()),
            "database_ms": round(self.query_seconds * 1000, 2),
        }
        if self.statements:
            measured["slowest_query_ms"] = round(self.slowest[0] * 1000, 2)
        if hints := " ".join(self.hints()):
            measured["database_hint"] = hints
        return measured

    def hints(self) -> Iterator[str]:
        shapes: Counter[str] = Counter()
        for sql, count in self.statements.items():
            if sql.lstrip().upper().startswith(STATEMENTS):
                shapes[self.get_shape(sql)] += count
        for shape, count in shapes.most_common(1):
            if count >= MANY:
                often = ngettext(
                    # Translators: shown is empty, or ": " and the statement.
                    "The same statement ran %(count)d time%(shown)s.",
                    "The same statement ran %(count)d times%(shown)s.",
                    count,
                )
                yield often % {"count": count, "shown": self.quote(shape)}
                if shape.upper().startswith(READS):
                    yield _("Fetch related rows at once, with select_related or prefetch_related.")
                else:
                    yield _(
                        "Write rows together, with bulk_create, bulk_update or a queryset's update"
                        " or delete."
                    )
        seconds, sql = self.slowest
        if seconds >= SLOW_SECONDS:
            facts = {"ms": seconds * 1000, "shown": self.quote(self.get_shape(sql))}
            # Translators: shown is empty, or ": " and the statement.
            yield _("The slowest statement took %(ms).0f ms%(shown)s.") % facts

    def get_shape(self, sql: str) -> str:
        return VALUE_LISTS.sub("…", VALUES.sub("…", sql)).strip()

    def quote(self, shape: str) -> str:
        # SQL names tables and columns, which only a developer may see.
        if not settings.DEBUG:
            return ""
        text = " ".join(shape.split())
        return f": {text[:MAX_STATEMENT]}{'…' if len(text) > MAX_STATEMENT else ''}"
