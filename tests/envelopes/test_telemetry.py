"""Measurements of a call: those of the view, and duration and queries with TELEMETRY."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from rest_framework.exceptions import NotFound
from rest_framework.response import Response

from drf_mcp import call_context
from drf_mcp.dispatch.guards import Timer
from drf_mcp.introspection.inspection import wrapped_queries
from tests.dispatch.views import answering
from tests.envelopes.conftest import Served


def querying(request) -> Response:
    """Run two queries."""
    return Response({"groups": [Group.objects.count(), Group.objects.exists()]})


def telemetry(served: Any) -> dict[str, Any]:
    return served.read()["meta"]["telemetry"]


@pytest.fixture
def measured(serve) -> Served:
    """Like `thing`, with TELEMETRY."""
    served: Served = serve(answering(lambda request: served.act(request)), TELEMETRY=True)
    return served


def test_without_the_setting_nothing_is_measured(thing):
    """The status contract requires a duration."""
    assert set(thing.answer_with(querying).read()["meta"]) == {"version", "request_id"}
    assert 0 < thing.read("status")["metadata"]["execution_time"] < 60


def test_a_failed_call_is_measured_too(measured):
    """So are refused arguments; a failing query is counted."""

    def broken(request) -> Response:
        with connection.cursor() as cursor:
            cursor.execute("SELECT nothing FROM nowhere")
        return Response({})

    for exc in (NotFound(), ZeroDivisionError()):
        assert telemetry(measured.answer_with(exc))["duration_ms"] > 0
    assert measured.read(nonsense=1)["meta"]["telemetry"]["duration_ms"] >= 0
    assert telemetry(measured.answer_with(broken))["database_queries"] == 1


def test_every_envelope_has_the_time_of_a_call(measured):
    """The plain one has it beside the view's body, in ``_meta``."""
    for answer in (querying, NotFound()):
        measured.answer_with(answer)
        assert measured.read("ok")["meta"]["telemetry"]["duration_ms"] > 0
        assert measured.read("status")["metadata"]["execution_time"] > 0
        assert measured.call("plain").raw["_meta"]["telemetry"]["duration_ms"] > 0


def test_queries_are_counted_and_timed_where_telemetry_is_on(measured):
    found = telemetry(measured.answer_with(querying))
    assert found["database_queries"] == 2
    assert 0 < found["database_ms"] <= found["duration_ms"]


@pytest.mark.django_db
def test_queries_of_every_database_are_counted(monkeypatch, settings):
    settings.DRF_MCP = {"TELEMETRY": True}
    databases = [connection, connection.copy("other")]
    before = [list(database.execute_wrappers) for database in databases]
    connections = type("Connections", (), {"all": lambda self: databases})()
    monkeypatch.setattr("drf_mcp.introspection.inspection.connections", connections)
    stopwatch = Timer()
    with wrapped_queries(stopwatch):
        for database in databases:
            with database.cursor() as cursor:
                cursor.execute("SELECT 1")
    databases[1].close()
    assert stopwatch.telemetry()["database_queries"] == 2
    assert [database.execute_wrappers for database in databases] == before


def test_measurements_of_a_view_are_added(thing, serve):
    def counting(request) -> Response:
        call_context(request).measure(downstream_calls=3)
        return Response({})

    assert telemetry(thing.answer_with(counting)) == {"downstream_calls": 3}
    seen = telemetry(serve(answering(counting), TELEMETRY=True))
    assert seen["downstream_calls"] == 3
    assert seen["duration_ms"] > 0


def test_the_status_contract_has_measurements_of_the_view(thing):
    """Values that the contract refuses, such as a negative duration, are replaced or left out."""

    def noting(**measurements: Any) -> Any:
        def view(request) -> Response:
            call_context(request).measure(**measurements)
            return Response({})

        return view

    for duration in ("long", -1, float("nan"), True):
        thing.answer_with(noting(duration_ms=duration))
        assert 0 < thing.read("status")["metadata"]["execution_time"] < 60
        assert "telemetry" not in thing.read()["meta"]
    thing.answer_with(noting(downstream_calls=3, duration_ms=1500, cache_hit="yes"))
    metadata = thing.read("status")["metadata"]
    assert (metadata["telemetry"], metadata["execution_time"]) == ({"downstream_calls": 3}, 1.5)
