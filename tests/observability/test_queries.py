"""Queries in the telemetry: how many, how slow, and a hint where one runs too often."""

from __future__ import annotations

import time

import pytest
from django.db import connection

from drf_mcp.dispatch.telemetry import MANY, Stopwatch
from tests.observability import views


@pytest.fixture
def telemetry(agent):
    """Call a tool that asks so often, and return its telemetry."""

    def call(often, monkeypatch):
        monkeypatch.setattr(views.Queries, "often", often)
        return agent.call("queries").envelope["meta"].get("telemetry", {})

    return call


def test_queries_are_not_counted_by_default(telemetry, monkeypatch):
    assert telemetry(MANY, monkeypatch) == {}


def test_telemetry_counts_queries_and_names_the_slowest(telemetry, configure, monkeypatch):
    configure(TELEMETRY=True)
    told = telemetry(2, monkeypatch)
    assert told["database_queries"] == 3
    assert 0 <= told["slowest_query_ms"] <= told["database_ms"] <= told["duration_ms"]
    assert "database_hint" not in told


def test_a_statement_that_runs_often_gives_a_hint(telemetry, settings, monkeypatch):
    settings.DEBUG = True
    hint = telemetry(MANY, monkeypatch)["database_hint"]
    assert hint.startswith(f"The same statement ran {MANY} times: SELECT ")
    assert "select_related or prefetch_related" in hint


def test_a_statement_that_runs_a_little_less_often_gives_none(telemetry, settings, monkeypatch):
    settings.DEBUG = True
    assert "database_hint" not in telemetry(MANY - 1, monkeypatch)


def test_sql_is_shown_while_debugging_only(telemetry, configure, monkeypatch):
    configure(TELEMETRY=True)
    hint = telemetry(MANY, monkeypatch)["database_hint"]
    assert hint.startswith(f"The same statement ran {MANY} times. ")
    assert "SELECT" not in hint


def test_counting_changes_nothing_of_what_is_asked(
    agent, configure, django_assert_num_queries, monkeypatch
):
    configure(TELEMETRY=True)
    with django_assert_num_queries(1):
        agent.call("queries")


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ('SELECT * FROM "a" WHERE "id" = %s', 'SELECT * FROM "a" WHERE "id" = %s', True),
        ("SELECT * FROM a WHERE id = 1", "SELECT * FROM a WHERE id = 2", True),
        ("SELECT * FROM a WHERE n = 'it''s'", "SELECT * FROM a WHERE n = 'b'", True),
        ("SELECT * FROM a WHERE id IN (%s)", "SELECT * FROM a WHERE id IN (%s, %s, %s)", True),
        ("SELECT * FROM a WHERE id IN (1,2)", "SELECT * FROM a WHERE id IN (3, 4, 5)", True),
        ("SELECT * FROM table1", "SELECT * FROM table2", False),
        ("SELECT a FROM t WHERE x = %s", "SELECT a FROM t WHERE y = %s", False),
    ],
)
def test_only_statements_that_differ_in_values_alone_have_one_shape(one, other, is_same):
    stopwatch = Stopwatch()
    assert (stopwatch.get_shape(one) == stopwatch.get_shape(other)) is is_same


def watched(settings, statements, seconds=0.0) -> str | None:
    """Return the hint about statements that take so long."""
    settings.DEBUG = True
    stopwatch = Stopwatch()
    for sql in statements:
        stopwatch(lambda *args: time.sleep(seconds), sql, (), False, {})
    return stopwatch.telemetry().get("database_hint")


def test_writes_have_a_hint_of_their_own(settings):
    hint = watched(settings, ['INSERT INTO "a" VALUES (%s)'] * MANY)
    assert "bulk_create" in hint


def test_savepoints_are_no_statements_to_hint_at(settings):
    assert watched(settings, ['SAVEPOINT "s1"'] * MANY) is None


def test_a_slow_statement_gives_a_hint(settings):
    hint = watched(settings, ["SELECT  pg_sleep(1)\n"], seconds=0.12)
    assert hint.startswith("The slowest statement took 1")
    assert hint.endswith("ms: SELECT pg_sleep(…).")


def test_a_query_that_fails_is_counted(configure, db):
    configure(TELEMETRY=True)
    stopwatch = Stopwatch()
    with stopwatch.watching(), connection.cursor() as cursor:
        with pytest.raises(ZeroDivisionError):
            connection.execute_wrappers[-1](lambda *args: 1 / 0, "SELECT 1", (), False, {})
        cursor.execute("SELECT 2")
    assert stopwatch.telemetry()["database_queries"] == 2
