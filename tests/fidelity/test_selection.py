"""Asking for some of the fields."""

from __future__ import annotations

from drf_mcp.fidelity import field_paths, select, unknown_paths

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


def test_unknown_paths_with_the_nearest_known():
    assert unknown_paths(["customer.nam", "id", "zzz"], PATHS) == {
        "customer.nam": "customer.name",
        "zzz": None,
    }
