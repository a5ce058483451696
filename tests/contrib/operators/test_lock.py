"""What counts as a breaking change of the tools."""

from __future__ import annotations

import copy

import pytest
from rest_framework import serializers

from drf_mcp.contrib.operators.lock import LockFile, compare_tools, list_members
from drf_mcp.introspection.described_field import DescribedField
from drf_mcp.introspection.portable import write_portable

ENTRY = {
    "request": "POST /things/",
    "permissions": ["a.IsAuthenticated"],
    "arguments": {
        "name": {"type": "string", "required": True},
        "kind": {"type": "string", "enum": ["a", "b"]},
        "lines": {"type": "array"},
        "lines[].number": {"type": "integer"},
    },
    "answers": {"id": {"type": "integer"}},
    "size": 1000,
}


def changed(change) -> list[tuple[str, bool]]:
    entry = copy.deepcopy(ENTRY)
    change(entry)
    found = compare_tools({"thing": ENTRY}, {"thing": entry})
    return [(difference.message, difference.breaking) for difference in found]


def test_the_same_surface_has_no_changes():
    assert changed(lambda entry: None) == []


def test_what_may_stop_an_agent_or_let_another_in_is_breaking(subtests):
    for change, message in [
        (lambda e: e["arguments"].pop("name"), "argument name removed"),
        (lambda e: e["arguments"].pop("lines[].number"), "argument lines[].number removed"),
        (
            lambda e: e["arguments"].update(more={"type": "string", "required": True}),
            "required argument more added",
        ),
        (lambda e: e["arguments"]["kind"].update(required=True), "argument kind became required"),
        (
            lambda e: e["arguments"]["name"].update(type="integer"),
            "argument name changed from string to integer",
        ),
        (lambda e: e["arguments"]["kind"].update(enum=["a"]), 'argument kind no longer takes "b"'),
        (lambda e: e["arguments"]["name"].update(enum=["x"]), 'argument name takes only "x" now'),
        (lambda e: e["answers"].clear(), "field id of the answer removed"),
        (
            lambda e: e["answers"]["id"].update(type="integer | null"),
            "field id of the answer changed from integer to integer | null",
        ),
        (
            lambda e: e.update(permissions=["a.IsAdminUser"]),
            "permissions IsAuthenticated became IsAdminUser",
        ),
        (lambda e: e.update(permissions=[]), "permissions IsAuthenticated became none"),
    ]:
        with subtests.test(change=change, message=message):
            assert changed(change) == [(message, True)]


def test_what_agents_can_live_with_is_a_note(subtests):
    for change, message in [
        (lambda e: e["arguments"].update(more={"type": "string"}), "argument more added"),
        (lambda e: e["arguments"]["name"].pop("required"), "argument name became optional"),
        (
            lambda e: e["arguments"]["name"].update(type="string | null"),
            "argument name changed from string to string | null",
        ),
        (
            lambda e: e["arguments"]["lines[].number"].update(type="number"),
            "argument lines[].number changed from integer to number",
        ),
        (
            lambda e: e["arguments"]["kind"].update(enum=["a", "b", "c"]),
            'argument kind takes "c" as well',
        ),
        (lambda e: e["answers"].update(more={"type": "any"}), "field more of the answer added"),
        (lambda e: e.update(request="PUT /things/"), "request POST /things/ became PUT /things/"),
        (lambda e: e.update(size=1300), "grew from 1000 to 1300 bytes"),
    ]:
        with subtests.test(change=change, message=message):
            assert changed(change) == [(message, False)]


def test_a_required_member_of_a_new_optional_argument_breaks_nothing():
    def change(entry) -> None:
        entry["arguments"]["box"] = {"type": "object"}
        entry["arguments"]["box.width"] = {"type": "integer", "required": True}

    assert [breaking for _, breaking in changed(change)] == [False, False]


def test_a_required_member_of_an_argument_that_was_there_breaks_calls():
    def change(entry) -> None:
        entry["arguments"]["lines[].price"] = {"type": "number", "required": True}

    assert changed(change) == [("required argument lines[].price added", True)]


def test_removed_tools_come_before_notes():
    found = compare_tools({"b": ENTRY}, {"a": ENTRY})
    assert [str(change) for change in found] == ["b: removed", "a: added"]


def test_members_are_found_at_any_depth():
    schema = {
        "properties": {
            "lines": {
                "type": "array",
                "items": {
                    "properties": {"product": {"type": "string"}},
                    "required": ["product"],
                },
            },
            "address": {"type": "object", "properties": {"city": {"type": ["string", "null"]}}},
            "tags": {"type": "array", "items": {"enum": ["x"]}},
            "open": {},
        }
    }
    assert list_members(schema) == {
        "lines": {"type": "array"},
        "lines[].product": {"type": "string", "required": True},
        "address": {"type": "object"},
        "address.city": {"type": "string | null"},
        "tags": {"type": "array", "enum": ["x"]},
        "open": {"type": "any"},
    }


def test_choices_that_the_schema_has_in_words_are_kept():
    field = serializers.ChoiceField(range(60))
    written = write_portable(DescribedField(field).input_schema)
    many = {"type": "array", "items": written}
    members = list_members({"properties": {"one": written, "many": many}})
    assert members["one"]["enum"] == members["many"]["enum"] == list(range(60))


def test_rows_of_a_list_that_comes_without_a_page_are_members():
    schema = {"type": "array", "items": {"properties": {"id": {"type": "integer"}}}}
    assert list_members(schema) == {"[].id": {"type": "integer"}}


@pytest.mark.slow
def test_the_order_of_tools_in_a_lock_file_is_the_alphabets():
    names = list(LockFile().make_entries())
    assert names == sorted(names)
