"""Any arguments are either bound to a request or refused."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from django.http import QueryDict
from django.test import RequestFactory
from django.urls import path
from hypothesis import given
from hypothesis import strategies as st
from rest_framework import generics, serializers
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.request import Request

from drf_mcp.errors import ArgumentsRefused

texts = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=20)
words = st.from_regex(r"[a-z]{1,5}", fullmatch=True)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=8
)
NAMES = ["pk", "name", "tags", "owner", "query", "kwargs", "body", "nonsense"]
arguments = st.dictionaries(st.sampled_from(NAMES), values) | values


class BoxSerializer(serializers.Serializer):
    name = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField(), required=False)
    owner = serializers.DictField(required=False)


class Boxes(generics.CreateAPIView):
    serializer_class = BoxSerializer


@pytest.fixture
def tool_of(tools_of):
    def tool(parser=JSONParser, **mcp_settings):
        view = Boxes.as_view(parser_classes=[parser])
        return tools_of(path("boxes/<str:pk>/", view), **mcp_settings)["boxes_create"]

    return tool


@pytest.fixture
def flat(tool_of):
    return tool_of(EXTRA_QUERY=True)


@pytest.fixture
def grouped(tool_of):
    return tool_of(EXTRA_QUERY=True, ARGUMENTS="grouped")


def loosely(value: Any) -> Any:
    """Return the array or object that a string contains as JSON, else the value."""
    if not isinstance(value, str):
        return value
    try:
        held = json.loads(value)
    except ValueError:
        return value
    return held if isinstance(held, (dict, list)) else value


def in_query(value: Any) -> dict[str, list[str]]:
    """Return the query parameters that a view reads for a ``query`` argument."""
    if not isinstance(value, dict):
        return {} if value is None else None
    read = {}
    for name, member in value.items():
        items = member if isinstance(member, list) else [member]
        if isinstance(member, dict):
            items = [member]
        texts = [item if isinstance(item, str) else json.dumps(item) for item in items]
        if member is not None and texts:
            read[name] = texts
    return read


def finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(finite, value.values()))
    return all(map(finite, value)) if isinstance(value, list) else True


def assert_helpful(refused: ArgumentsRefused) -> None:
    assert refused.problems
    assert all(p.code and p.message and p.remediation for p in refused.problems)


@given(arguments)
def test_flat_arguments_are_bound_or_refused(flat, arguments):
    try:
        call = flat.bind(arguments)
    except ArgumentsRefused as refused:
        assert_helpful(refused)
        known = {"pk", "name", "tags", "owner", "query"}
        names = arguments if isinstance(arguments, dict) else {}
        assert names.get("pk") is None or set(names) - known or not finite(arguments)
        return
    sent = dict(arguments)
    assert call.kwargs == {"pk": sent.pop("pk")}
    query = in_query(loosely(sent.pop("query", None)))
    if query is not None:
        assert dict(QueryDict(call.query_string).lists()) == query
    read = {name: loosely(v) if name != "name" else v for name, v in sent.items()}
    body = json.loads(call.body)
    assert body.keys() == read.keys()
    for name, value in body.items():
        assert value in (sent[name], read[name])


@given(
    st.dictionaries(st.sampled_from(["kwargs", "query", "body", "nonsense"]), values)
    | st.fixed_dictionaries(
        {"kwargs": st.fixed_dictionaries({"pk": texts})},
        optional={
            "query": st.dictionaries(texts, values, max_size=3),
            "body": st.dictionaries(st.sampled_from(["name", "tags"]), scalars),
        },
    )
)
def test_grouped_arguments_are_bound_or_refused(grouped, arguments):
    try:
        call = grouped.bind(arguments)
    except ArgumentsRefused as refused:
        assert_helpful(refused)
        return
    assert call.kwargs == loosely(arguments["kwargs"])
    query = in_query(loosely(arguments.get("query")))
    assert dict(QueryDict(call.query_string).lists()) == query
    body = json.loads(call.body)
    assert body == {k: loosely(v) for k, v in (loosely(arguments.get("body")) or {}).items()} or (
        body == (loosely(arguments.get("body")) or {})
    )


@pytest.mark.parametrize("parser", [FormParser, MultiPartParser])
@given(
    name=texts,
    tags=st.lists(texts, min_size=1, max_size=4),
    owner=st.dictionaries(words, texts, min_size=1),
)
def test_a_form_is_parsed_to_the_values_that_were_sent(tool_of, parser, name, tags, owner):
    call = tool_of(parser).bind({"pk": "1", "name": name, "tags": tags, "owner": owner})
    data, fields = parse(call, parser), BoxSerializer().fields
    assert fields["name"].get_value(data) == name
    assert data.getlist("tags") == tags
    read = fields["owner"].get_value(data)
    assert read.dict() == owner


def parse(call, parser):
    request = RequestFactory().generic(
        "POST", "/", bytes(call.body), content_type=call.content_type
    )
    return Request(request, parsers=[parser()]).data


def test_a_body_has_the_media_type_of_the_views_parser(tool_of):
    for parser, media_type in [
        (JSONParser, "application/json"),
        (FormParser, "application/x-www-form-urlencoded"),
        (MultiPartParser, "multipart/form-data"),
    ]:
        call = tool_of(parser).bind({"pk": "1", "name": "n"})
        assert call.content_type.partition(";")[0] == media_type


def test_a_number_that_json_does_not_have_is_refused(tool_of):
    for parser in [JSONParser, FormParser, MultiPartParser]:
        for value in [float("inf"), float("nan"), [float("inf")]]:
            with pytest.raises(ArgumentsRefused, match="cannot be sent as a request"):
                tool_of(parser).bind({"pk": "1", "owner": value})
