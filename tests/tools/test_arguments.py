"""Arguments side by side or in groups: their schema, their names, the request they become."""

from __future__ import annotations

import json

import pytest
from django.urls import path

from drf_mcp.tools import ArgumentsRefused, mcp_tool
from tests.introspection.test_row_bodies import Bulk
from tests.tools.boxes import (
    EXTRA,
    EXTRA_QUERY,
    KEYED,
    Anything,
    ManyBoxes,
    query_of,
)

# --- Flat ---------------------------------------------------------------------------------


def test_path_query_and_body_stand_side_by_side(tool_of):
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


def test_renamed_arguments_reach_their_places(tool_of):
    call = tool_of(KEYED).bind(
        {"key_path": "p", "key_query": "q", "key": "b", "name": "n", "name_query": "nq"}
    )
    assert call.kwargs == {"key": "p"}
    assert query_of(call) == {"key": ["q"], "name": ["nq"]}
    assert json.loads(call.body) == {"key": "b", "name": "n"}


def test_portable_names_are_mapped_back_to_the_views_own(tool_of):
    call = tool_of(KEYED).bind({"key_path": "p", "page_size": 5, "lid_colour": "red"})
    assert query_of(call) == {"page[size]": ["5"]}
    assert json.loads(call.body) == {"lid-colour": "red"}


def test_query_arguments_are_written_the_way_the_view_reads_them(tool_of):
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


def test_a_string_is_read_as_json_only_where_an_object_or_array_is_wanted(tool_of):
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


def test_a_body_that_cannot_be_described_is_any_json(tool_of):
    for value in [{"a": 1}, [1], "text", 5, None, True, "[1]"]:
        tool = tool_of(path("x/", Anything.as_view()), "x_post")
        assert list(tool.input_schema["properties"]) == ["body"], value
        assert json.loads(tool.bind({"body": value}).body) == value


def test_no_arguments_are_no_body_where_none_is_described(tool_of):
    call = tool_of(path("x/", Anything.as_view()), "x_post").bind({})
    assert (call.body, call.content_type, call.query_string) == (b"", "", "")


def test_no_arguments_are_an_empty_object_where_fields_are_described(tool_of):
    call = tool_of(KEYED).bind({"key_path": "p"})
    assert (call.body, call.content_type) == (b"{}", "application/json")


def test_null_is_as_good_as_no_arguments(tool_of):
    assert tool_of(path("x/", Anything.as_view()), "x_get").bind(None).arguments == {}


def test_a_path_argument_is_required(tool_of):
    for arguments in [{}, {"key_path": None}]:
        with pytest.raises(ArgumentsRefused) as caught:
            tool_of(KEYED).bind({"name": "n", **arguments})
        assert [(p.pointer, p.code) for p in caught.value.problems] == [("/key_path", "required")]


def test_only_the_portable_names_are_known(tool_of):
    for name in ["lid-colour", "page[size]", "Name", ""]:
        with pytest.raises(ArgumentsRefused):
            tool_of(KEYED).bind({"key_path": "p", name: 1})


# --- Further query parameters -------------------------------------------------------------


def test_extra_query_takes_any_parameter(tool_of):
    tool = tool_of(path("x/", Anything.as_view()), "x_get", EXTRA_QUERY=True)
    assert tool.input_schema["properties"]["query"]["type"] == "object"
    assert query_of(tool.bind(EXTRA)) == EXTRA_QUERY
    assert query_of(tool.bind({"query": json.dumps(EXTRA["query"])})) == EXTRA_QUERY


def test_extra_query_can_be_refused_for_one_tool(tool_of):
    view = mcp_tool(extra_query=False)(type("View", (Anything,), {}))
    tool = tool_of(path("x/", view.as_view()), "x_get", EXTRA_QUERY=True)
    assert set(tool.input_schema["properties"]) == {"fields"}


# --- Grouped --------------------------------------------------------------------------------


@pytest.fixture
def grouped(tool_of):
    def tool(pattern=KEYED, name=None, **mcp_settings):
        return tool_of(pattern, name, ARGUMENTS="grouped", **mcp_settings)

    return tool


def test_groups_hold_the_views_own_names(grouped):
    schema = grouped().input_schema
    assert list(schema["properties"]) == ["kwargs", "query", "body"]
    assert list(schema["properties"]["kwargs"]["properties"]) == ["key"]
    assert "name" in schema["properties"]["query"]["properties"]
    assert schema["properties"]["body"]["required"] == ["name"]
    assert schema["required"] == ["kwargs", "body"]
    assert schema["additionalProperties"] is False


def test_groups_reach_their_places(grouped):
    call = grouped().bind(
        {"kwargs": {"key": "p"}, "query": {"key": "q", "repeat": [1, 2]}, "body": {"key": "b"}}
    )
    assert call.kwargs == {"key": "p"}
    assert query_of(call) == {"key": ["q"], "repeat": ["1", "2"]}
    assert json.loads(call.body) == {"key": "b"}


def test_a_group_may_come_as_a_string(grouped):
    call = grouped().bind({"kwargs": '{"key": "p"}', "body": '{"name": "n"}'})
    assert call.kwargs == {"key": "p"}
    assert json.loads(call.body) == {"name": "n"}


def test_groups_that_an_endpoint_lacks_are_not_there(grouped):
    tool = grouped(path("x/", Anything.as_view()), "x_get", FIELDS_ARGUMENT=False)
    assert tool.input_schema["properties"] == {}


NAME_MISSING = ("/body/name", "required")


def test_what_is_wrong_with_a_group_is_pointed_at(grouped):
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


def test_a_list_body_is_the_body_group(grouped):
    tool = grouped(path("many/", ManyBoxes.as_view()))
    assert tool.input_schema["properties"]["body"]["type"] == "array"
    assert json.loads(tool.bind({"body": [{"name": "a"}]}).body) == [{"name": "a"}]


def test_extra_query_opens_the_query_group(grouped):
    tool = grouped(path("x/", Anything.as_view()), "x_get", EXTRA_QUERY=True)
    assert query_of(tool.bind(EXTRA)) == EXTRA_QUERY


# --- One object, or a list of them ------------------------------------------------------------


@pytest.fixture
def bulk(tools_of):
    def tool(**mcp_settings):
        return tools_of(path("rows/", Bulk.as_view()), **mcp_settings)["rows_create"]

    return tool


def test_one_object_or_items_are_bound(bulk):
    tool = bulk()
    assert json.loads(tool.bind({"name": "a"}).body) == {"name": "a"}
    assert json.loads(tool.bind({"items": [{"name": "a"}]}).body) == [{"name": "a"}]
    assert "required" not in tool.input_schema


def test_items_beside_a_field_are_refused(bulk):
    with pytest.raises(ArgumentsRefused, match="'items' is the whole body"):
        bulk().bind({"name": "a", "items": []})


def test_problems_are_found_in_the_object_and_in_the_items(bulk):
    tool = bulk()
    one, rows = tool.bind({"name": "a"}), tool.bind({"items": [{"name": "a"}]})
    assert tool.pointers(one).pointer(("name",)) == "/name"
    assert tool.pointers(one).pointer(()) == tool.pointers(one).pointer(("other",)) == ""
    assert tool.pointers(rows).pointer((0, "name")) == "/items/0/name"


def test_grouped_body_is_either(bulk):
    tool = bulk(ARGUMENTS="grouped")
    assert "array of such objects" in tool.input_schema["properties"]["body"]["description"]
    assert json.loads(tool.bind({"body": {"name": "a"}}).body) == {"name": "a"}
    assert json.loads(tool.bind({"body": [{"name": "a"}]}).body) == [{"name": "a"}]
