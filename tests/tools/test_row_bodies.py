"""Arguments of bodies that are one object or a list of them."""

from __future__ import annotations

import json

import pytest
from django.urls import path

from drf_mcp.tools import ArgumentsRefused
from tests.introspection.test_row_bodies import Bulk


@pytest.fixture
def bulk(tools_of):
    """Return the tool that creates one or many, under some settings."""

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
