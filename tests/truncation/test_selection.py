"""Asking for some of the fields."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.introspection.field_selection import (
    field_paths,
    names_all,
    nearest_path,
    select,
    unknown_paths,
)

STRING = {"type": "string"}
CUSTOMER = {"type": "object", "properties": {"id": {"type": "integer"}, "name": STRING}}
ORDER = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "customer": CUSTOMER,
        "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": STRING}}},
    },
}
PATHS = ["id", "customer", "customer.id", "customer.name", "lines", "lines.sku"]
PAGE = {
    "type": "object",
    "properties": {
        "count": {"type": "integer"},
        "next": STRING,
        "results": {"type": "array", "items": ORDER},
    },
}
ROW = {
    "id": 1,
    "customer": {"id": 2, "name": "Ann"},
    "lines": [{"sku": "a", "n": 1}, {"sku": "b", "n": 2}],
}


def test_the_paths_of_an_object():
    assert field_paths(ORDER) == PATHS


def test_the_paths_of_a_list_and_of_a_page_are_those_of_a_row():
    assert field_paths({"type": "array", "items": ORDER}) == PATHS
    assert field_paths(PAGE) == PATHS


def test_a_name_that_would_be_read_as_a_path_or_as_two_is_not_offered():
    names = {"type": "object", "properties": {"a.b": CUSTOMER, "c,d": STRING, " e": {}, "f": {}}}
    assert field_paths(names) == ["f"]


def test_nothing_known_has_no_paths():
    assert field_paths({}) == []


def test_fields_of_an_object_in_its_own_order():
    assert select(ROW, ["lines.sku", "id"]) == {"id": 1, "lines": [{"sku": "a"}, {"sku": "b"}]}


def test_fields_of_rows():
    assert select([ROW, ROW], ["customer.name"]) == [{"customer": {"name": "Ann"}}] * 2


def test_fields_of_a_pages_rows():
    page = {"count": 1, "next": None, "previous": None, "results": [ROW]}
    assert select(page, ["id"]) == {**page, "results": [{"id": 1}]}


def test_a_field_wanted_whole_is_not_narrowed():
    for paths in (["customer", "customer.name"], ["customer.name", "customer"]):
        assert select(ROW, paths) == {"customer": ROW["customer"]}


def test_values_that_are_no_objects_stay():
    assert select({"id": 1, "customer": None}, ["customer.name"]) == {"customer": None}
    assert select("text", ["id"]) == "text"


def test_asking_for_nothing_in_particular_gives_all():
    assert select(ROW, []) == ROW


def test_a_place_named_by_text_or_by_number_is_the_same():
    assert select({1: "a", 2: "b"}, ["1"]) == {1: "a"}


def test_a_path_deeper_than_python_recurses():
    assert select(ROW, ["customer" + ".x" * 100_000]) == {"customer": {}}


def test_unknown_paths():
    paths = ["id", "customer.nam", "lines.sku", "zzz", "id.x", "customer.", ""]
    assert list(unknown_paths(paths, PAGE)) == ["customer.nam", "zzz", "id.x", "customer.", ""]


@pytest.mark.parametrize(
    "open_schema",
    [
        {},
        {"type": "object"},
        {"type": ["object", "null"], "additionalProperties": STRING},
        {"type": "array", "items": {}},
        {"type": "array"},
        {"properties": {"size": STRING}, "additionalProperties": True},
    ],
    ids=str,
)
def test_below_what_a_schema_leaves_open_every_path_may_lead_somewhere(open_schema):
    schema = {"type": "object", "properties": {"metadata": open_schema}}
    assert not list(unknown_paths(["metadata.colour", "metadata.a.b"], schema))


def test_an_object_that_may_have_more_members_takes_other_names():
    assert not list(unknown_paths(["secret"], {**CUSTOMER, "additionalProperties": True}))


def test_whether_all_fields_are_named():
    maybe = {**CUSTOMER, "additionalProperties": True}
    assert names_all(PAGE)
    assert names_all({"properties": {"metadata": {}}})
    assert not names_all(maybe)
    assert not names_all({"type": "array", "items": {"properties": {"customer": maybe}}})


def test_the_nearest_path():
    assert nearest_path("customer.nam", PATHS) == "customer.name"
    assert nearest_path("zzz", PATHS) is None


def test_the_nearest_path_is_found_by_its_end():
    assert nearest_path("data.results.id", PATHS) == "id"


# --- Any schema and its data ---------------------------------------------------------------

names = st.sampled_from(["id", "name", "results", "a b", "é", "count"])


def objects(inner: st.SearchStrategy) -> st.SearchStrategy:
    """Object schemas, some of them in lists."""
    made = st.dictionaries(names, inner, max_size=4).map(
        lambda members: {"type": "object", "properties": members}
    )
    return st.one_of(made, made.map(lambda schema: {"type": "array", "items": schema}))


schemas = objects(st.recursive(st.just(STRING), objects, max_leaves=12))


@st.composite
def data_of(draw, schema: dict) -> Any:
    """A value of a schema, now and then null or with a member missing."""
    if "items" in schema:
        return draw(st.lists(data_of(schema["items"]), max_size=3))
    if "properties" not in schema:
        return draw(st.one_of(st.text(max_size=3), st.none()))
    present = {n: m for n, m in schema["properties"].items() if draw(st.integers(0, 9))}
    return {name: draw(data_of(member)) for name, member in present.items()}


@st.composite
def answers(draw) -> tuple[dict, Any]:
    """A schema and a value of it, bare or as a page."""
    schema = draw(schemas)
    value = draw(data_of(schema))
    if not draw(st.booleans()):
        return schema, value
    rows = {"type": "array", "items": schema}
    page = {"type": "object", "properties": {"next": STRING, "results": rows}}
    return page, {"next": None, "results": [value]}


@given(answers())
def test_all_fields_of_an_answer_are_all_of_it(answer):
    schema, value = answer
    assert select(value, field_paths(schema)) == value


@given(answers(), st.data())
def test_selecting_again_changes_nothing(answer, data):
    schema, value = answer
    known = field_paths(schema)
    selected = data.draw(st.lists(st.sampled_from(known), max_size=4)) if known else []
    once = select(value, selected)
    assert select(once, selected) == once


@given(answers(), st.text(min_size=8))
def test_every_known_path_is_taken_and_no_other(answer, stranger):
    schema, _ = answer
    assert list(unknown_paths([*field_paths(schema), stranger], schema)) == [stranger]
