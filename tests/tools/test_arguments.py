"""Flat and grouped arguments: their schema, their names, and the request that they become."""

from __future__ import annotations

import json

import pytest
from django.urls import path

from drf_mcp.errors import ArgumentsRefused
from tests.introspection.test_row_bodies import Bulk
from tests.tools.boxes import EXTRA, EXTRA_QUERY, KEYED, Anything, ManyBoxes, query_of

# --- Flat ---------------------------------------------------------------------------------


def test_path_query_and_body_are_arguments_of_one_object(tool_of):
    schema = tool_of(KEYED).input_schema
    assert list(schema["properties"]) == [
        "key_path",
        "name_query",
        "page_size",
        "open",
        "key_query",
        "repeat",
        "comma",
        "name",
        "key",
        "size",
        "tags",
        "owner",
        "lid_colour",
    ]
    assert schema["required"] == ["key_path", "name"]
    assert schema["additionalProperties"] is False


def test_renamed_arguments_are_sent_under_the_names_of_the_view(tool_of):
    call = tool_of(KEYED).bind(
        {"key_path": "p", "key_query": "q", "key": "b", "name": "n", "name_query": "nq"}
    )
    assert call.kwargs == {"key": "p"}
    assert query_of(call) == {"key": ["q"], "name": ["nq"]}
    assert json.loads(call.body) == {"key": "b", "name": "n"}


def test_portable_names_are_sent_under_the_names_of_the_view(tool_of):
    call = tool_of(KEYED).bind({"key_path": "p", "page_size": 5, "lid_colour": "red"})
    assert query_of(call) == {"page[size]": ["5"]}
    assert json.loads(call.body) == {"lid-colour": "red"}


def test_query_arguments_are_written_as_the_view_reads_them(tool_of):
    cases = [
        ({"repeat": [1, 2]}, {"repeat": ["1", "2"]}),
        ({"comma": [1, 2]}, {"comma": ["1,2"]}),
        ({"repeat": "[1, 2]"}, {"repeat": ["1", "2"]}),
        ({"comma": "1,2"}, {"comma": ["1,2"]}),
        ({"repeat": []}, {}),
        ({"open": True}, {"open": ["true"]}),
        ({"open": None}, {}),
        ({"name_query": ""}, {"name": [""]}),
        ({"name_query": "a&b=c +%ü"}, {"name": ["a&b=c +%ü"]}),
        ({"name_query": "[1]"}, {"name": ["[1]"]}),
    ]
    found = [
        query_of(tool_of(KEYED).bind({"key_path": "p", **arguments})) for arguments, _ in cases
    ]
    assert found == [query for _, query in cases]


def test_a_string_is_parsed_as_json_only_for_an_object_or_array(tool_of):
    for argument, sent, read in [
        ("tags", '["a"]', ["a"]),
        ("tags", '{"a": 1}', '{"a": 1}'),
        ("tags", "[" * 5000, "[" * 5000),
        ("owner", '{"a": 1}', {"a": 1}),
        ("name", '{"a": 1}', '{"a": 1}'),
        ("size", None, None),
        ("name", ["not", "checked"], ["not", "checked"]),
    ]:
        call = tool_of(KEYED).bind({"key_path": "p", argument: sent})
        assert json.loads(call.body) == {argument: read}


def test_a_list_body_is_one_argument(tool_of):
    tool = tool_of(path("many/", ManyBoxes.as_view()))
    assert tool.input_schema["required"] == ["items"]
    assert tool.input_schema["properties"]["items"]["type"] == "array"
    call = tool.bind({"items": [{"name": "a"}, {"name": "b"}]})
    assert json.loads(call.body) == [{"name": "a"}, {"name": "b"}]


def test_an_open_body_takes_any_json(tool_of):
    for value in [{"a": 1}, [1], "text", 5, None, True, "[1]"]:
        tool = tool_of(path("x/", Anything.as_view()), "x_post")
        assert list(tool.input_schema["properties"]) == ["body"], value
        assert json.loads(tool.bind({"body": value}).body) == value


def test_without_arguments_an_open_body_is_not_sent(tool_of):
    call = tool_of(path("x/", Anything.as_view()), "x_post").bind({})
    assert (call.body, call.content_type, call.query_string) == (b"", "", "")


def test_a_path_argument_is_required(tool_of):
    for arguments in [{}, {"key_path": None}]:
        with pytest.raises(ArgumentsRefused) as caught:
            tool_of(KEYED).bind({"name": "n", **arguments})
        assert [(p.pointer, p.code) for p in caught.value.problems] == [("/key_path", "required")]


# --- Undeclared query parameters ----------------------------------------------------------


def test_extra_query_takes_any_parameter(tool_of):
    tool = tool_of(path("x/", Anything.as_view()), "x_get", EXTRA_QUERY=True)
    assert tool.input_schema["properties"]["query"]["type"] == "object"
    assert query_of(tool.bind(EXTRA)) == EXTRA_QUERY
    assert query_of(tool.bind({"query": json.dumps(EXTRA["query"])})) == EXTRA_QUERY


# --- Grouped --------------------------------------------------------------------------------


@pytest.fixture
def grouped(tool_of):
    def tool(pattern=KEYED, name=None, **mcp_settings):
        return tool_of(pattern, name, ARGUMENTS="grouped", **mcp_settings)

    return tool


def test_groups_have_the_names_of_the_view(grouped):
    schema = grouped().input_schema
    assert list(schema["properties"]) == ["kwargs", "query", "body"]
    assert list(schema["properties"]["kwargs"]["properties"]) == ["key"]
    assert "name" in schema["properties"]["query"]["properties"]
    assert schema["properties"]["body"]["required"] == ["name"]
    assert schema["required"] == ["kwargs", "body"]
    assert schema["additionalProperties"] is False


def test_each_group_is_sent_in_its_part_of_the_request(grouped):
    call = grouped().bind(
        {"kwargs": {"key": "p"}, "query": {"key": "q", "repeat": [1, 2]}, "body": {"key": "b"}}
    )
    assert call.kwargs == {"key": "p"}
    assert query_of(call) == {"key": ["q"], "repeat": ["1", "2"]}
    assert json.loads(call.body) == {"key": "b"}


NAME_MISSING = ("/body/name", "required")


def test_problems_have_their_group_in_the_pointer(grouped):
    for arguments, problems in [
        ({}, [("/kwargs/key", "required"), NAME_MISSING]),
        ({"kwargs": {"key": None}}, [("/kwargs/key", "required"), NAME_MISSING]),
        ({"kwargs": [1]}, [("/kwargs", "invalid"), NAME_MISSING]),
        ({"kwargs": {"key": "p"}, "body": "text"}, [("/body", "invalid")]),
        ({"kwargs": {"key": "p"}, "query": 5}, [("/query", "invalid"), NAME_MISSING]),
        ({"kwargs": {"key": "p", "kye": 1}}, [("/kwargs/kye", "unknown"), NAME_MISSING]),
        ({"kwargs": {"key": "p"}, "body": {"nmae": 1}}, [("/body/nmae", "unknown"), NAME_MISSING]),
        ({"kwargs": {"key": "p"}, "bdoy": {}}, [("/bdoy", "unknown"), NAME_MISSING]),
        ({"key": "p"}, [("/kwargs/key", "required"), ("/key", "unknown"), NAME_MISSING]),
    ]:
        with pytest.raises(ArgumentsRefused) as caught:
            grouped().bind(arguments)
        assert [(p.pointer, p.code) for p in caught.value.problems] == problems


# --- One object, or a list of them ------------------------------------------------------------


@pytest.fixture
def bulk(tools_of):
    def tool(**mcp_settings):
        return tools_of(path("rows/", Bulk.as_view()), **mcp_settings)["rows_create"]

    return tool


def test_one_object_or_items_can_be_sent(bulk):
    tool = bulk()
    assert json.loads(tool.bind({"name": "a"}).body) == {"name": "a"}
    assert json.loads(tool.bind({"items": [{"name": "a"}]}).body) == [{"name": "a"}]
    assert "required" not in tool.input_schema


def test_items_and_a_field_together_are_refused(bulk):
    with pytest.raises(ArgumentsRefused, match="'items' is the whole body"):
        bulk().bind({"name": "a", "items": []})
