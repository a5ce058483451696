"""Queries in the telemetry: their number, and the slowest."""

from __future__ import annotations

import pytest

from tests.observability import views


@pytest.fixture
def telemetry(agent, monkeypatch):
    """Call a tool that runs this many queries, and return its telemetry."""

    def call(often):
        monkeypatch.setattr(views.Queries, "often", often)
        return agent.call("queries").envelope["meta"].get("telemetry", {})

    return call


def test_telemetry_counts_queries(telemetry, configure, settings):
    """Without the setting nothing is counted."""
    assert telemetry(2) == {}
    configure(TELEMETRY=True)
    counted = telemetry(2)
    assert counted["database_queries"] == 3
    assert 0 <= counted["slowest_query_ms"] <= counted["database_ms"] <= counted["duration_ms"]
    configure()
    settings.DEBUG = True
    assert telemetry(2)["database_queries"] == 3


def test_counting_adds_no_query(agent, configure, django_assert_num_queries):
    configure(TELEMETRY=True)
    with django_assert_num_queries(1):
        agent.call("queries")
