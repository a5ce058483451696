"""Which changes of tools are breaking."""

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
}


def differences_after(change) -> list[tuple[str, bool]]:
    entry = copy.deepcopy(ENTRY)
    change(entry)
    found = compare_tools({"thing": ENTRY}, {"thing": entry})
    return [(difference.message, difference.breaking) for difference in found]


def test_the_same_tools_have_no_changes():
    assert differences_after(lambda entry: None) == []


def test_a_change_that_may_fail_calls_or_open_access_is_breaking(subtests):
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
            assert differences_after(change) == [(message, True)]


def test_a_change_that_fails_no_call_is_a_note(subtests):
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
    ]:
        with subtests.test(change=change, message=message):
            assert differences_after(change) == [(message, False)]


def test_a_required_member_of_a_new_optional_argument_is_a_note():
    def change(entry) -> None:
        entry["arguments"]["box"] = {"type": "object"}
        entry["arguments"]["box.width"] = {"type": "integer", "required": True}

    assert [breaking for _, breaking in differences_after(change)] == [False, False]


def test_a_required_member_of_an_existing_argument_is_breaking():
    def change(entry) -> None:
        entry["arguments"]["lines[].price"] = {"type": "number", "required": True}

    assert differences_after(change) == [("required argument lines[].price added", True)]


def test_removed_tools_come_before_notes():
    found = compare_tools({"b": ENTRY}, {"a": ENTRY})
    assert [str(change) for change in found] == ["b: removed", "a: added"]


def test_members_are_found_at_any_depth():
    schema = {
        "properties": {
            "lines": {
                "type": "array",
                "items": {"properties": {"product": {"type": "string"}}, "required": ["product"]},
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


def test_choices_that_the_description_lists_are_kept():
    field = serializers.ChoiceField(range(60))
    written = write_portable(DescribedField(field).input_schema)
    many = {"type": "array", "items": written}
    members = list_members({"properties": {"one": written, "many": many}})
    assert members["one"]["enum"] == members["many"]["enum"] == list(range(60))


def test_the_rows_of_an_unpaginated_list_are_members():
    schema = {"type": "array", "items": {"properties": {"id": {"type": "integer"}}}}
    assert list_members(schema) == {"[].id": {"type": "integer"}}


@pytest.mark.slow
def test_the_tools_of_a_lock_file_are_in_alphabetical_order():
    names = list(LockFile().make_entries())
    assert names == sorted(names)
