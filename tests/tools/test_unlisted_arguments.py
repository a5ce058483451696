"""Arguments that a tool accepts and does not list."""

from __future__ import annotations

import json

import pytest
from django.urls import path
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema
from hypothesis import given
from hypothesis import strategies as st
from rest_framework import generics, serializers
from rest_framework.response import Response
from rest_framework.test import APIClient

from drf_mcp import mcp_tool
from drf_mcp.tools import ArgumentsRefused
from drf_mcp.tools.arguments.errors import MASK
from tests.tools.test_binding import finite, values


class Narrow(serializers.Serializer):
    title = serializers.CharField()


class Line(serializers.Serializer):
    price = serializers.IntegerField()
    note = serializers.CharField(required=False)


class Wide(Narrow):
    pages = serializers.IntegerField(required=False)
    isbn = serializers.CharField(required=False)
    owner = serializers.DictField(required=False)
    lines = Line(many=True, required=False)
    secret = serializers.CharField(required=False, write_only=True)


class Books(generics.CreateAPIView):
    """Declares only the title as its request."""

    schema = AutoSchema()
    serializer_class = Wide
    permission_classes = ()

    @extend_schema(request=Narrow)
    def post(self, request, **kwargs):
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response(serializer.data)

    @extend_schema(request=Narrow)
    def patch(self, request, **kwargs):
        serializer = self.get_serializer(data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        return Response(serializer.validated_data)


class Closed(Books):
    """Declares no request."""

    @extend_schema(request=None)
    def post(self, request, **kwargs):
        return super().post(request, **kwargs)


class Echoes(generics.GenericAPIView):
    """Reads its whole body, and declares no request."""

    schema = AutoSchema()

    @extend_schema(request=None)
    def post(self, request):
        return Response({"got": request.data})


BOOKS = path("books/<slug:isbn>/", Books.as_view())
UNLISTED = ["pages", "isbn_body", "owner", "lines", "secret"]


@pytest.fixture
def books(tool_of):
    return lambda **mcp_settings: tool_of(BOOKS, "books_create", **mcp_settings)


@pytest.fixture
def flat(books):
    return books()


def refused(tool, arguments):
    with pytest.raises(ArgumentsRefused) as caught:
        tool.bind(arguments)
    return caught.value.problems


def test_the_schema_has_only_the_declared_fields(books):
    schema = books().input_schema
    assert list(schema["properties"]) == ["isbn", "title"]
    assert schema["required"] == ["isbn", "title"]


def test_an_unknown_name_is_answered_with_the_similar_one(books):
    (problem,) = refused(books(), {"isbn": "1", "title": "t", "pagse": 3})
    assert (problem.code, problem.pointer, problem.accepted) == ("unknown", "/pagse", "pages")


def test_missing_arguments_are_those_that_the_schema_requires(books):
    missing = refused(books(), {"pages": 3})
    assert [problem.pointer for problem in missing] == ["/isbn", "/title"]


# The fields of a line.
LINE = {"price", "note"}


def lines_of(arguments):
    lines = arguments.get("lines")
    return lines if isinstance(lines, list) else [lines]


@pytest.mark.slow
@given(arguments=st.dictionaries(st.sampled_from(["title", *UNLISTED, "nonsense"]), values))
def test_flat_arguments_are_sent_under_the_names_of_the_fields(flat, arguments):
    try:
        call = flat.bind({"isbn": "1", **arguments})
    except ArgumentsRefused:
        is_foreign = any(isinstance(o, dict) and not o.keys() <= LINE for o in lines_of(arguments))
        assert "nonsense" in arguments or is_foreign or not finite(arguments)
        return
    assert "nonsense" not in arguments
    body = json.loads(call.body)
    assert body.keys() == {name.removesuffix("_body") for name in arguments}
    for name in ("title", "pages", "secret"):
        assert body.get(name) == arguments.get(name)


def test_an_unknown_grouped_name_is_answered_with_the_similar_one(books):
    tool = books(ARGUMENTS="grouped")
    (problem,) = refused(tool, {"kwargs": {"isbn": "1"}, "body": {"title": "t", "pagse": 3}})
    assert (problem.pointer, problem.accepted) == ("/body/pagse", "pages")
    (problem,) = refused(tool, {"kwargs": {"isbn": "1"}, "body": {"title": "t", "qqqqq": 3}})
    assert problem.accepted == "title"


def test_a_partial_update_requires_nothing_and_accepts_unlisted_fields(tool_of):
    tool = tool_of(BOOKS, "books_patch")
    assert tool.input_schema["required"] == ["isbn"]
    assert json.loads(tool.bind({"isbn": "1", "pages": 3}).body) == {"pages": 3}


def test_a_body_without_listed_fields_is_accepted_and_sent_only_if_given(tool_of):
    for arguments, style in [
        ({"isbn": "1", "title": "t"}, "flat"),
        ({"kwargs": {"isbn": "1"}, "body": {"title": "t"}}, "grouped"),
    ]:
        tool = tool_of(
            path("closed/<slug:isbn>/", Closed.as_view()), "closed_create", ARGUMENTS=style
        )
        listed = {name: arguments[name] for name in arguments if name in ("isbn", "kwargs")}
        assert tool.input_schema["properties"].keys() == listed.keys(), arguments
        assert json.loads(tool.bind(arguments).body) == {"title": "t"}
        assert tool.bind(listed).body == b"", arguments


def test_a_body_that_the_view_reads_whole_is_accepted(tool_of):
    for style in ["flat", "grouped"]:
        tool = tool_of(path("echoes/", Echoes.as_view()), ARGUMENTS=style)
        assert tool.input_schema["properties"] == {}, style
        assert json.loads(tool.bind({"body": {"a": [1]}}).body) == {"a": [1]}, style
        assert tool.bind({}).body == b"", style


def test_fields_of_the_option_body_are_listed(tools_of):
    view = mcp_tool(body={"pages": {"type": "integer"}})(type("Declared", (Books,), {}))
    tool = tools_of(path("d/<slug:isbn>/", view.as_view()))["d_create"]
    assert list(tool.input_schema["properties"]) == ["isbn", "title", "pages"]


def test_unlisted_secrets_are_masked(books):
    tool = books()
    call = tool.bind({"isbn": "1", "title": "t", "secret": "s3cr3t"})
    assert tool.pointers(call).received("/secret") == MASK


def test_errors_of_the_view_point_at_unlisted_arguments(books):
    tool = books()
    call = tool.bind({"isbn": "1", "title": "t", "lines": [{}], "isbn_body": 1})
    pointers = tool.pointers(call)
    assert pointers.knows("pages")
    assert pointers.pointer(("lines", 0, "price")) == "/lines/0/price"
    assert pointers.pointer(("isbn",)) == "/isbn_body"


def test_the_view_answers_as_over_http(expose, agent_of):
    expose(BOOKS)
    sent = {"title": "t", "pages": 3, "owner": {"name": "n"}, "lines": [{"price": 1, "note": "n"}]}
    over_http = APIClient().post("/books/1/", sent, format="json").json()
    result = agent_of(None).call("books_create", isbn="1", **sent)
    assert result.data == over_http == sent
