"""Measurements of a call: the view's own, and duration and queries where TELEMETRY is on."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from rest_framework.exceptions import NotFound
from rest_framework.response import Response

from drf_mcp import call_context
from drf_mcp.dispatch.telemetry import Stopwatch
from tests.dispatch.views import answering, raising


def querying(request) -> Response:
    """Ask the database twice."""
    return Response({"groups": [Group.objects.count(), Group.objects.exists()]})


def telemetry(served: Any) -> dict[str, Any]:
    return served.read()["meta"]["telemetry"]


def test_nobody_pays_for_measurements_that_nobody_asked_for(serve):
    assert set(serve(answering(querying)).read()["meta"]) == {"version", "request_id"}


def test_the_status_contract_has_a_duration_of_its_own(serve):
    metadata = serve(answering(querying)).read("status")["metadata"]
    assert 0 < metadata["execution_time"] < 60


@pytest.mark.parametrize("exc", [NotFound(), ZeroDivisionError()])
def test_a_failed_call_is_measured_too(serve, exc):
    assert telemetry(serve(raising(exc), TELEMETRY=True))["duration_ms"] > 0


def test_refused_arguments_are_measured_too(serve):
    envelope = serve(answering(querying), TELEMETRY=True).read(nonsense=1)
    assert envelope["meta"]["telemetry"]["duration_ms"] >= 0


def test_queries_are_counted_and_timed_where_telemetry_is_on(serve):
    measured = telemetry(serve(answering(querying), TELEMETRY=True))
    assert measured["database_queries"] == 2
    assert 0 < measured["database_ms"] <= measured["duration_ms"]


def test_a_failing_query_is_counted(serve):
    def broken(request) -> Response:
        with connection.cursor() as cursor:
            cursor.execute("SELECT nothing FROM nowhere")
        return Response({})

    measured = telemetry(serve(answering(broken), TELEMETRY=True))
    assert measured["database_queries"] == 1


@pytest.mark.django_db
def test_queries_of_every_database_are_counted(monkeypatch, settings):
    settings.DRF_MCP = {"TELEMETRY": True}
    databases = [connection, connection.copy("other")]
    before = [list(database.execute_wrappers) for database in databases]
    connections = type("Connections", (), {"all": lambda self: databases})()
    monkeypatch.setattr("drf_mcp.dispatch.telemetry.connections", connections)
    stopwatch = Stopwatch()
    with stopwatch.watching():
        for database in databases:
            with database.cursor() as cursor:
                cursor.execute("SELECT 1")
    databases[1].close()
    assert stopwatch.telemetry()["database_queries"] == 2
    assert [database.execute_wrappers for database in databases] == before


def test_nothing_wraps_queries_while_telemetry_is_off(serve):
    seen: list[int] = []

    def look(request) -> Response:
        seen.append(len(connection.execute_wrappers))
        return Response({})

    before = len(connection.execute_wrappers)
    serve(answering(look)).call()
    serve(answering(look), TELEMETRY=True).call()
    assert seen == [before, before + 1]
    assert len(connection.execute_wrappers) == before


def test_measurements_of_a_view_stand_beside_ours(serve):
    def measured(request) -> Response:
        call_context(request).measure(downstream_calls=3)
        return Response({})

    assert telemetry(serve(answering(measured))) == {"downstream_calls": 3}
    seen = telemetry(serve(answering(measured), TELEMETRY=True))
    assert seen["downstream_calls"] == 3
    assert seen["duration_ms"] > 0


@pytest.mark.parametrize("duration", ["long", -1, float("nan"), True])
def test_a_duration_that_is_none_gives_way_to_ours(serve, duration):
    def measured(request) -> Response:
        call_context(request).measure(duration_ms=duration)
        return Response({})

    served = serve(answering(measured))
    assert 0 < served.read("status")["metadata"]["execution_time"] < 60
    assert "telemetry" not in served.read()["meta"]


def test_measurements_of_a_view_reach_the_status_contract(serve):
    def measured(request) -> Response:
        call_context(request).measure(downstream_calls=3, duration_ms=1500, cache_hit="yes")
        return Response({})

    metadata = serve(answering(measured)).read("status")["metadata"]
    assert (metadata["telemetry"], metadata["execution_time"]) == ({"downstream_calls": 3}, 1.5)
