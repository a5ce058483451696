"""SelectableFields and FieldSelection: the paths of a schema, and the selected fields of data."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.introspection.field_selection import (
    FieldSelection,
    SelectableFields,
    find_nearest_path,
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
    assert SelectableFields(ORDER).find_paths() == PATHS


def test_the_paths_of_a_list_and_of_a_page_are_those_of_a_row():
    assert SelectableFields({"type": "array", "items": ORDER}).find_paths() == PATHS
    assert SelectableFields(PAGE).find_paths() == PATHS


def test_a_name_with_a_dot_a_comma_or_a_space_is_not_offered():
    names = {"type": "object", "properties": {"a.b": CUSTOMER, "c,d": STRING, " e": {}, "f": {}}}
    assert SelectableFields(names).find_paths() == ["f"]


def test_an_empty_schema_has_no_paths():
    assert SelectableFields({}).find_paths() == []


def test_the_fields_of_an_object_keep_their_order():
    assert FieldSelection(["lines.sku", "id"]).select(ROW) == {
        "id": 1,
        "lines": [{"sku": "a"}, {"sku": "b"}],
    }


def test_the_fields_of_rows():
    assert (
        FieldSelection(["customer.name"]).select([ROW, ROW]) == [{"customer": {"name": "Ann"}}] * 2
    )


def test_the_fields_of_the_rows_of_a_page():
    page = {"count": 1, "next": None, "previous": None, "results": [ROW]}
    assert FieldSelection(["id"]).select(page) == {**page, "results": [{"id": 1}]}


def test_a_field_that_is_selected_whole_is_whole():
    for paths in (["customer", "customer.name"], ["customer.name", "customer"]):
        assert FieldSelection(paths).select(ROW) == {"customer": ROW["customer"]}


def test_values_that_are_no_objects_do_not_change():
    assert FieldSelection(["customer.name"]).select({"id": 1, "customer": None}) == {
        "customer": None
    }
    assert FieldSelection(["id"]).select("text") == "text"


def test_an_empty_selection_selects_all():
    assert FieldSelection([]).select(ROW) == ROW


def test_a_numeric_key_is_selected_by_its_text():
    assert FieldSelection(["1"]).select({1: "a", 2: "b"}) == {1: "a"}


@pytest.mark.slow
def test_a_path_may_be_deeper_than_the_recursion_limit():
    assert FieldSelection(["customer" + ".x" * 100_000]).select(ROW) == {"customer": {}}


def test_unknown_paths():
    paths = ["id", "customer.nam", "lines.sku", "zzz", "id.x", "customer.", ""]
    assert list(SelectableFields(PAGE).find_unknown(paths)) == [
        "customer.nam",
        "zzz",
        "id.x",
        "customer.",
        "",
    ]


def test_below_an_open_schema_every_path_is_known():
    for left_open in (
        {},
        {"type": "object"},
        {"type": ["object", "null"], "additionalProperties": STRING},
        {"type": "array", "items": {}},
        {"type": "array"},
        {"properties": {"size": STRING}, "additionalProperties": True},
    ):
        known = SelectableFields({"type": "object", "properties": {"metadata": left_open}})
        assert not list(known.find_unknown(["metadata.colour", "metadata.a.b"])), left_open


def test_an_object_with_additional_properties_has_any_name():
    assert not list(
        SelectableFields({**CUSTOMER, "additionalProperties": True}).find_unknown(["secret"])
    )


def test_names_all_is_true_if_no_object_has_additional_properties():
    maybe = {**CUSTOMER, "additionalProperties": True}
    assert SelectableFields(PAGE).names_all()
    assert SelectableFields({"properties": {"metadata": {}}}).names_all()
    assert not SelectableFields(maybe).names_all()
    assert not SelectableFields(
        {"type": "array", "items": {"properties": {"customer": maybe}}}
    ).names_all()


def test_the_similar_path():
    assert find_nearest_path("customer.nam", PATHS) == "customer.name"
    assert find_nearest_path("zzz", PATHS) is None


def test_a_similar_path_is_found_by_its_end():
    assert find_nearest_path("data.results.id", PATHS) == "id"


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
    """A value of a schema, sometimes null or with a missing member."""
    if "items" in schema:
        return draw(st.lists(data_of(schema["items"]), max_size=3))
    if "properties" not in schema:
        return draw(st.one_of(st.text(max_size=3), st.none()))
    present = {n: m for n, m in schema["properties"].items() if draw(st.integers(0, 9))}
    return {name: draw(data_of(member)) for name, member in present.items()}


@st.composite
def answers(draw) -> tuple[dict, Any]:
    """A schema and a value of it, or a page of values."""
    schema = draw(schemas)
    value = draw(data_of(schema))
    if not draw(st.booleans()):
        return schema, value
    rows = {"type": "array", "items": schema}
    page = {"type": "object", "properties": {"next": STRING, "results": rows}}
    return page, {"next": None, "results": [value]}


@given(answers())
def test_all_fields_select_the_whole_answer(answer):
    schema, value = answer
    assert FieldSelection(SelectableFields(schema).find_paths()).select(value) == value


@given(answers(), st.data())
def test_selecting_twice_changes_nothing(answer, data):
    schema, value = answer
    known = SelectableFields(schema).find_paths()
    selected = data.draw(st.lists(st.sampled_from(known), max_size=4)) if known else []
    once = FieldSelection(selected).select(value)
    assert FieldSelection(selected).select(once) == once


@given(answers(), st.text(min_size=8))
def test_every_path_of_the_schema_is_known_and_no_other(answer, stranger):
    schema, _ = answer
    assert list(
        SelectableFields(schema).find_unknown([*SelectableFields(schema).find_paths(), stranger])
    ) == [stranger]
