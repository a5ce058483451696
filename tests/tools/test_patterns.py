"""Patterns that select tools by method, path, name or tag."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rest_framework import viewsets
from rest_framework.routers import SimpleRouter

from drf_mcp.exposure import registry
from drf_mcp.option_types.kinds import METHODS, read_pattern


class Boxes(viewsets.ModelViewSet):
    def bulk_update(self, request): ...


@pytest.fixture
def find_left(tools_of):
    router = SimpleRouter()
    router.register("boxes", Boxes, basename="box")

    def names(*patterns: str) -> set[str]:
        tools = tools_of(*router.urls, EXCLUDE=list(patterns))
        return {name.removeprefix("boxes_") for name in tools}

    return names


ALL = {"list", "create", "retrieve", "update", "partial_update", "destroy"}


def test_a_standard_action_is_matched_as_a_whole(find_left):
    for pattern, gone in [
        ("*_update", {"update"}),
        ("boxes_*_update", set()),
        ("*_partial_update", {"partial_update"}),
        ("*update", {"update", "partial_update"}),
        ("*_update*", {"update", "partial_update"}),
        ("PUT *", {"update"}),
        ("PUT *update", {"update"}),
        ("patch /boxes/{pk}/", {"partial_update"}),
        (" DELETE /* ", {"destroy"}),
    ]:
        assert find_left(pattern) == ALL - gone


def test_a_pattern_that_can_match_nothing_is_refused(subtests):
    for text in [
        "",
        " ",
        "FETCH *",
        "GTE /api/*",
        "GET:/api/*",
        "api/orders/*",
        "Customers_*",
        "tag:",
        "GET",
    ]:
        with subtests.test(text=text), pytest.raises(ValueError, match=r" is | begins "):
            read_pattern(text)


@given(st.text())
def test_any_text_is_a_pattern_or_refused(text):
    try:
        pattern = read_pattern(text)
    except ValueError:
        return
    assert pattern.method in {"", *METHODS}
    registry.tool("orders_list").matches([text])
