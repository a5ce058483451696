"""Arguments kept apart: ``{"kwargs": {...}, "query": {...}, "body": {...}}``."""

from __future__ import annotations

import json

import pytest
from django.urls import path

from drf_mcp.tools import ArgumentsRefused
from tests.tools.boxes import EXTRA, EXTRA_QUERY, KEYED, Anything, ManyBoxes, query_of


@pytest.fixture
def grouped(tool_of):
    """Return a tool with grouped arguments."""

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
    assert grouped(path("x/", Anything.as_view()), "x_get").input_schema["properties"] == {}


NAME_MISSING = ("/body/name", "required")


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        ({}, [("/kwargs/key", "required"), NAME_MISSING]),
        ({"kwargs": {}}, [("/kwargs/key", "required"), NAME_MISSING]),
        ({"kwargs": None}, [("/kwargs/key", "required"), NAME_MISSING]),
        ({"kwargs": {"key": None}}, [("/kwargs/key", "required"), NAME_MISSING]),
        ({"kwargs": [1]}, [("/kwargs", "invalid"), NAME_MISSING]),
        ({"kwargs": {"key": "p"}, "body": "text"}, [("/body", "invalid")]),
        ({"kwargs": {"key": "p"}, "query": 5}, [("/query", "invalid"), NAME_MISSING]),
        ({"kwargs": {"key": "p", "kye": 1}}, [("/kwargs/kye", "unknown"), NAME_MISSING]),
        ({"kwargs": {"key": "p"}, "body": {"nmae": 1}}, [("/body/nmae", "unknown"), NAME_MISSING]),
        ({"kwargs": {"key": "p"}, "bdoy": {}}, [("/bdoy", "unknown"), NAME_MISSING]),
        ({"key": "p"}, [("/key", "unknown"), ("/kwargs/key", "required"), NAME_MISSING]),
    ],
)
def test_what_is_wrong_with_a_group_is_pointed_at(grouped, arguments, problems):
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
