"""An aggregate gives the figures that its caller could compute by paging through the list."""

from __future__ import annotations

from functools import lru_cache

import pytest
from django.utils import timezone
from django.utils.dateparse import parse_duration
from hypothesis import given
from hypothesis import strategies as st

from tests.contrib.aggregates.journeys import FIELDS
from tests.contrib.aggregates.paging import PARTS, compute_metric, group_rows, read_rows

DATES = ("day", "left_at")
GROUPINGS = [f for f in FIELDS if f not in DATES] + [f"{f}_{p}" for f in DATES for p in PARTS]
AMOUNTS = ("price", "distance", "passengers", "duration")
METRICS = [
    "count",
    *(f"{function}_{name}" for name in AMOUNTS for function in ("sum", "avg", "min", "max")),
    *(f"{function}_{name}" for name in DATES for function in ("min", "max")),
    *(
        f"distinct_{n}"
        for n in ("kind", "stars", "passengers", "code", "owner", "station", "country")
    ),
]
FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["train", "ship"]),
        "is_return": st.booleans(),
        "station__country": st.sampled_from(["CH", "DE", "XX"]),
        "passengers_min": st.integers(1, 4),
        "search": st.sampled_from(["Bern", "alice", "u", "nobody at all"]),
    },
)
QUESTIONS = st.fixed_dictionaries(
    {
        "group_by": st.lists(st.sampled_from(GROUPINGS), max_size=2, unique=True),
        "metrics": st.lists(st.sampled_from(METRICS), min_size=1, max_size=4, unique=True),
    }
)
pytestmark = pytest.mark.usefixtures("journeys")


def comparable(figures):
    """Return figures with parsed durations, which are written with days or without."""
    return {
        key: parse_duration(value)
        if key.endswith("duration") and isinstance(value, str)
        else pytest.approx(value, abs=1e-6)
        if isinstance(value, float)
        else value
        for key, value in figures.items()
    }


def figures_of(rows, metrics):
    return {metric: compute_metric(rows, metric, {"price": 3}) for metric in metrics}


@pytest.fixture
def rows_of(http_of):
    @lru_cache
    def read(zone, username, query):
        return read_rows(http_of(username), "/journeys/", dict(query))

    return lambda zone, username, query: read(zone, username, tuple(query.items()))


@pytest.mark.slow
@given(
    zone=st.sampled_from(["UTC", "America/Lima"]),
    user=st.sampled_from(["alice", "bob", "carol"]),
    query=FILTERS,
    question=QUESTIONS,
)
def test_figures_equal_those_of_all_pages(zone, user, query, question, agent_of, rows_of, settings):
    settings.TIME_ZONE = zone
    timezone.deactivate()
    rows = rows_of(zone, user, query)
    result = agent_of(user).call_with("journeys_aggregate", {**query, **question, "limit": 1000})
    assert not result.is_error, result.envelope
    answer, group_by, metrics = result.data, question["group_by"], question["metrics"]
    assert comparable(answer["total"]) == comparable(figures_of(rows, metrics))
    if not group_by:
        assert "groups" not in answer
        return
    expected = group_rows(rows, group_by, FIELDS, zone)
    found = {tuple(group[key] for key in group_by): group for group in answer["groups"]}
    assert found.keys() == expected.keys()
    assert answer["group_count"] == len(expected)
    assert answer["has_more"] is False
    moments = any(key.startswith("left_at") for key in group_by)
    assert answer.get("time_zone") == (zone if moments else None)
    for key, group in found.items():
        shown = {metric: group[metric] for metric in metrics}
        assert comparable(figures_of(expected[key], metrics)) == comparable(shown)
