"""Unknown keys of nested objects, which HTTP would silently ignore, are refused."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import path
from hypothesis import given
from hypothesis import strategies as st
from rest_framework import generics, serializers

from drf_mcp.errors import ArgumentsRefused


class Size(serializers.Serializer):
    width = serializers.IntegerField()
    area = serializers.IntegerField(read_only=True)


class Line(serializers.Serializer):
    product = serializers.CharField()
    quantity = serializers.IntegerField()
    unit_price = serializers.DecimalField(6, 2, read_only=True)
    owner = serializers.HiddenField(default=1)
    size = Size(required=False)
    extra = serializers.JSONField(required=False)


class OwnWay(Line):
    def to_internal_value(self, data):
        return {"own": data["anything"]}


class Basket(serializers.Serializer):
    lines = Line(many=True)
    first = Line(required=False)
    own = OwnWay(required=False)
    notes = serializers.DictField(required=False)


class Baskets(generics.CreateAPIView):
    serializer_class = Basket


LINE = {"product": "pan", "quantity": 1}


@pytest.fixture
def tool(tools_of):
    return next(iter(tools_of(path("baskets/", Baskets.as_view())).values()))


def refused(tool: Any, **arguments: Any) -> list[tuple[str, str]]:
    with pytest.raises(ArgumentsRefused) as caught:
        tool.bind({"lines": [LINE], **arguments})
    return [(problem.pointer, problem.code) for problem in caught.value.problems]


def test_an_unknown_key_is_refused(tool):
    for arguments, problem in [
        ({"lines": [{**LINE, "qty": 2}]}, ("/lines/0/qty", "unknown")),
        ({"first": {**LINE, "qty": 2}}, ("/first/qty", "unknown")),
    ]:
        assert refused(tool, **arguments) == [problem]


def test_read_only_keys_are_taken_and_a_warning_says_that_they_are_ignored(tool):
    rows = [{**LINE, "unit_price": "1"}, {**LINE, "unit_price": "2", "owner": 2}]
    first = {**LINE, "size": {"width": 1, "area": 2}}
    (warning,) = tool.bind({"lines": rows, "first": first}).warnings
    names = ("lines[0].unit_price", "lines[1].owner", "first.size.area")
    assert all(f"'{name}'" in warning.message for name in names)
    assert "lines[1].unit_price" not in warning.message


def test_the_similar_name_is_suggested(tool):
    with pytest.raises(ArgumentsRefused) as caught:
        tool.bind({"lines": [{**LINE, "quantty": 2}]})
    (problem,) = caught.value.problems
    assert (problem.accepted, problem.received) == ("quantity", 2)


def test_any_key_of_an_open_object_is_accepted(tool):
    tool.bind(
        {
            "lines": [{**LINE, "extra": {"any": {"thing": 1}}}],
            "own": {"anything": 1},
            "notes": {"any": 1},
        }
    )


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["product", "size", "qty", "width"]), inner, max_size=3)
    ),
    max_leaves=8,
)


def find_unknown(rows: Any) -> set[str]:
    """Return the pointers of unknown keys, found by a plain loop."""
    found = set()
    for index, row in enumerate(rows if isinstance(rows, list) else []):
        if not isinstance(row, dict):
            continue
        known = {"product", "size", "quantity", "extra"}
        found |= {f"/lines/{index}/{name}" for name in row if name not in known}
        size = row.get("size")
        for name in size if isinstance(size, dict) else ():
            if name != "width":
                found.add(f"/lines/{index}/size/{name}")
    return found


def test_exactly_the_unknown_keys_are_refused(tool):
    @given(rows=st.lists(values, max_size=3))
    def holds(rows: list[Any]) -> None:
        assert get_refused(tool, rows) == find_unknown(rows)

    holds()


def get_refused(tool: Any, rows: Any) -> set[str]:
    """Return the pointers of the problems of a call."""
    try:
        tool.bind({"lines": rows})
    except ArgumentsRefused as exc:
        return {problem.pointer for problem in exc.problems}
    return set()
