"""Queries in the telemetry: how many, how slow, and a hint where one runs too often."""

from __future__ import annotations

import pytest
from django.db import connection

from drf_mcp.dispatch.guards import MANY, Timer
from tests.observability import views


@pytest.fixture
def telemetry(agent, monkeypatch):
    """Call a tool that asks so often, and return its telemetry."""

    def call(often):
        monkeypatch.setattr(views.Queries, "often", often)
        return agent.call("queries").envelope["meta"].get("telemetry", {})

    return call


def test_telemetry_counts_queries_and_names_the_slowest(telemetry, configure):
    """By default nothing is counted."""
    assert telemetry(MANY) == {}
    configure(TELEMETRY=True)
    told = telemetry(2)
    assert told["database_queries"] == 3
    assert 0 <= told["slowest_query_ms"] <= told["database_ms"] <= told["duration_ms"]
    assert "database_hint" not in told


def test_a_statement_that_runs_often_gives_a_hint(telemetry, configure, settings):
    """SQL is shown while debugging only."""
    configure(TELEMETRY=True)
    hint = telemetry(MANY)["database_hint"]
    assert hint.startswith(f"The same statement ran {MANY} times. ")
    assert "SELECT" not in hint
    settings.DEBUG = True
    hint = telemetry(MANY)["database_hint"]
    assert hint.startswith(f"The same statement ran {MANY} times: SELECT ")
    assert "select_related or prefetch_related" in hint
    assert "database_hint" not in telemetry(MANY - 1)
    configure()
    assert "database_hint" in telemetry(MANY)


def test_counting_changes_nothing_of_what_is_asked(
    agent, configure, django_assert_num_queries, monkeypatch
):
    configure(TELEMETRY=True)
    with django_assert_num_queries(1):
        agent.call("queries")


PAIRS = [
    ('SELECT * FROM "a" WHERE "id" = %s', 'SELECT * FROM "a" WHERE "id" = %s', True),
    ("SELECT * FROM a WHERE id = 1", "SELECT * FROM a WHERE id = 2", True),
    ("SELECT * FROM a WHERE n = 'it''s'", "SELECT * FROM a WHERE n = 'b'", True),
    ("SELECT * FROM a WHERE id IN (%s)", "SELECT * FROM a WHERE id IN (%s, %s, %s)", True),
    ("SELECT * FROM a WHERE id IN (1,2)", "SELECT * FROM a WHERE id IN (3, 4, 5)", True),
    ("SELECT * FROM table1", "SELECT * FROM table2", False),
    ("SELECT a FROM t WHERE x = %s", "SELECT a FROM t WHERE y = %s", False),
]


def test_only_statements_that_differ_in_values_alone_have_one_shape():
    shape = Timer().get_shape
    found = [(one, other, shape(one) == shape(other)) for one, other, _ in PAIRS]
    assert found == PAIRS


class Clock:
    """A clock that a test turns on."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def watched(settings, monkeypatch):
    """Return the hint about statements that take so long."""
    clock = Clock()
    monkeypatch.setattr("drf_mcp.dispatch.guards.time", clock)
    settings.DEBUG = True

    def watch(statements: list[str], seconds: float = 0.0) -> str | None:
        stopwatch = Timer()

        def execute(*args) -> None:
            clock.now += seconds

        for sql in statements:
            stopwatch(execute, sql, (), False, {})
        return stopwatch.telemetry().get("database_hint")

    return watch


def test_writes_have_a_hint_of_their_own_and_savepoints_none(watched):
    assert "bulk_create" in watched(['INSERT INTO "a" VALUES (%s)'] * MANY)
    assert watched(['SAVEPOINT "s1"'] * MANY) is None


def test_a_slow_statement_gives_a_hint(watched):
    hint = watched(["SELECT  pg_sleep(1)\n"], seconds=0.12)
    assert hint == "The slowest statement took 120 ms: SELECT pg_sleep(…)."


def test_a_query_that_fails_is_counted(configure, db):
    configure(TELEMETRY=True)
    stopwatch = Timer()
    with stopwatch.watching(), connection.cursor() as cursor:
        with pytest.raises(ZeroDivisionError):
            connection.execute_wrappers[-1](lambda *args: 1 / 0, "SELECT 1", (), False, {})
        cursor.execute("SELECT 2")
    assert stopwatch.telemetry()["database_queries"] == 2
