"""Patterns that select tools by method, path, name or tag."""

from __future__ import annotations

import pytest
from django.urls import path
from hypothesis import given
from hypothesis import strategies as st
from rest_framework import viewsets
from rest_framework.routers import SimpleRouter

from drf_mcp.option_types.kinds import METHODS, read_pattern
from drf_mcp.tools import mcp_tool, registry


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


def test_an_action_of_the_project_is_matched_by_its_end(tools_of):
    router = SimpleRouter()
    router.register("boxes", Boxes, basename="box")
    bulk = Boxes.as_view({"put": "bulk_update"})
    tools = tools_of(path("boxes/bulk/", bulk), EXCLUDE=["*_update"])
    assert not tools


def test_a_declared_name_is_matched_as_a_whole(tools_of):
    class Renamed(viewsets.ModelViewSet):
        @mcp_tool(name="boxes_update")
        def partial_update(self, request, pk=None): ...

    view = Renamed.as_view({"patch": "partial_update"})
    assert not tools_of(path("boxes/<int:pk>/", view), EXCLUDE=["*_update"])


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
