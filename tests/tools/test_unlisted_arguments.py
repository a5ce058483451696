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

from drf_mcp.arguments.errors import MASK
from drf_mcp.errors import ArgumentsRefused
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


def test_a_partial_update_requires_nothing_and_accepts_unlisted_fields(tool_of):
    tool = tool_of(BOOKS, "books_patch")
    assert tool.input_schema["required"] == ["isbn"]
    assert json.loads(tool.bind({"isbn": "1", "pages": 3}).body) == {"pages": 3}


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
