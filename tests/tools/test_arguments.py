"""Arguments side by side or in groups: their schema, their names, the request they become."""

from __future__ import annotations

import json

import pytest
from django.urls import path, re_path
from django_filters import rest_framework as filters
from rest_framework import generics

from drf_mcp.tools import ArgumentsRefused, mcp_tool
from tests.tools.boxes import (
    EXTRA,
    EXTRA_QUERY,
    KEYED,
    Anything,
    BoxSerializer,
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


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ({"repeat": [1, 2]}, {"repeat": ["1", "2"]}),
        ({"comma": [1, 2]}, {"comma": ["1,2"]}),
        ({"repeat": "[1, 2]"}, {"repeat": ["1", "2"]}),
        ({"comma": "1,2"}, {"comma": ["1,2"]}),
        ({"repeat": []}, {}),
        ({"open": True}, {"open": ["true"]}),
        ({"open": False}, {"open": ["false"]}),
        ({"open": None}, {}),
        ({"name_query": ""}, {"name": [""]}),
        ({"name_query": "a&b=c +%ü"}, {"name": ["a&b=c +%ü"]}),
        ({"name_query": "[1]"}, {"name": ["[1]"]}),
        ({"name_query": 1.5}, {"name": ["1.5"]}),
    ],
)
def test_query_arguments_are_written_the_way_the_view_reads_them(tool_of, arguments, query):
    assert query_of(tool_of(KEYED).bind({"key_path": "p", **arguments})) == query


@pytest.mark.parametrize(
    ("argument", "sent", "read"),
    [
        ("tags", '["a"]', ["a"]),
        ("tags", '{"a": 1}', '{"a": 1}'),
        ("tags", "a", "a"),
        ("tags", "[" * 5000, "[" * 5000),
        ("owner", '{"a": 1}', {"a": 1}),
        ("owner", "[1]", "[1]"),
        ("name", '{"a": 1}', '{"a": 1}'),
        ("name", "5", "5"),
        ("size", "5", "5"),
        ("size", None, None),
        ("size", 5.5, 5.5),
        ("name", ["not", "checked"], ["not", "checked"]),
    ],
)
def test_a_string_is_read_as_json_only_where_an_object_or_array_is_wanted(
    tool_of, argument, sent, read
):
    call = tool_of(KEYED).bind({"key_path": "p", argument: sent})
    assert json.loads(call.body) == {argument: read}


def test_a_list_body_is_one_argument(tool_of):
    tool = tool_of(path("many/", ManyBoxes.as_view()))
    assert tool.input_schema["required"] == ["items"]
    assert tool.input_schema["properties"]["items"]["type"] == "array"
    call = tool.bind({"items": [{"name": "a"}, {"name": "b"}]})
    assert json.loads(call.body) == [{"name": "a"}, {"name": "b"}]


@pytest.mark.parametrize("value", [{"a": 1}, [1], "text", 5, None, True, "[1]"])
def test_a_body_that_cannot_be_described_is_any_json(tool_of, value):
    tool = tool_of(path("x/", Anything.as_view()), "x_post")
    assert list(tool.input_schema["properties"]) == ["body"]
    assert json.loads(tool.bind({"body": value}).body) == value


def test_no_arguments_are_no_body_where_none_is_described(tool_of):
    call = tool_of(path("x/", Anything.as_view()), "x_post").bind({})
    assert (call.body, call.content_type, call.query_string) == (b"", "", "")


def test_no_arguments_are_an_empty_object_where_fields_are_described(tool_of):
    call = tool_of(KEYED).bind({"key_path": "p"})
    assert (call.body, call.content_type) == (b"{}", "application/json")


def test_a_read_takes_no_body(tool_of):
    tool = tool_of(path("x/", Anything.as_view()), "x_get")
    assert tool.input_schema["properties"] == {}


def test_null_is_as_good_as_no_arguments(tool_of):
    assert tool_of(path("x/", Anything.as_view()), "x_get").bind(None).arguments == {}


@pytest.mark.parametrize("arguments", [{}, {"key_path": None}])
def test_a_path_argument_is_required(tool_of, arguments):
    with pytest.raises(ArgumentsRefused) as caught:
        tool_of(KEYED).bind({"name": "n", **arguments})
    assert [(p.pointer, p.code) for p in caught.value.problems] == [("/key_path", "required")]


@pytest.mark.parametrize("name", ["lid-colour", "page[size]", "Name", ""])
def test_only_the_portable_names_are_known(tool_of, name):
    with pytest.raises(ArgumentsRefused):
        tool_of(KEYED).bind({"key_path": "p", name: 1})


# --- Further query parameters -------------------------------------------------------------


def test_extra_query_takes_any_parameter(tool_of):
    tool = tool_of(path("x/", Anything.as_view()), "x_get", EXTRA_QUERY=True)
    assert tool.input_schema["properties"]["query"]["type"] == "object"
    assert query_of(tool.bind(EXTRA)) == EXTRA_QUERY
    assert query_of(tool.bind({"query": json.dumps(EXTRA["query"])})) == EXTRA_QUERY


def test_extra_query_can_be_had_for_one_tool(tool_of):
    view = mcp_tool(extra_query=True)(type("View", (Anything,), {}))
    assert query_of(tool_of(path("x/", view.as_view()), "x_get").bind(EXTRA)) == EXTRA_QUERY


def test_extra_query_can_be_refused_for_one_tool(tool_of):
    view = mcp_tool(extra_query=False)(type("View", (Anything,), {}))
    tool = tool_of(path("x/", view.as_view()), "x_get", EXTRA_QUERY=True)
    assert tool.input_schema["properties"] == {}


def test_extra_query_gives_way_to_a_parameter_of_its_name(tool_of):
    pattern = re_path(r"^(?P<query>\w+)/$", Anything.as_view())
    tool = tool_of(pattern, EXTRA_QUERY=True)
    assert len(tool.input_schema["properties"]) == 2 + ("body" in tool.input_schema["properties"])


def test_filters_are_arguments(tool_of):
    class BoxFilter(filters.FilterSet):
        size__gte = filters.NumberFilter()

    class Filtered(generics.ListAPIView):
        serializer_class = BoxSerializer
        filter_backends = [filters.DjangoFilterBackend]
        filterset_class = BoxFilter

    tool = tool_of(path("x/", Filtered.as_view()))
    assert list(tool.input_schema["properties"]) == ["size__gte", "fields"]
    assert query_of(tool.bind({"size__gte": 3})) == {"size__gte": ["3"]}
