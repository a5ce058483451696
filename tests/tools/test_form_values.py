"""Values in forms arrive as over HTTP, or are refused; none is left out unsaid."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import path
from rest_framework import generics, serializers
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.permissions import AllowAny
from rest_framework.response import Response

from drf_mcp.errors import ArgumentsRefused


class Line(serializers.Serializer):
    name = serializers.CharField(required=False)
    tags = serializers.ListField(child=serializers.CharField(), required=False)
    count = serializers.IntegerField(required=False, allow_null=True)


class Sheet(serializers.Serializer):
    title = serializers.CharField(required=False)
    subtitle = serializers.CharField(required=False, allow_null=True)
    motto = serializers.CharField(required=False, allow_null=True, allow_blank=True)
    count = serializers.IntegerField(required=False, allow_null=True)
    is_public = serializers.BooleanField(required=False)
    is_kept = serializers.BooleanField(default=True)
    tags = serializers.ListField(child=serializers.CharField(), required=False)
    meta = serializers.JSONField(required=False)
    lines = Line(many=True, required=False)
    file = serializers.FileField(required=False, allow_null=True)


class Sheets(generics.GenericAPIView):
    serializer_class = Sheet
    permission_classes = [AllowAny]

    def post(self, request, *args, **kwargs):
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response({name: str(value) for name, value in serializer.validated_data.items()})

    put = post


FORMS = (FormParser, MultiPartParser)
FILE = "data:text/plain;name=a.txt;base64,eA=="


@pytest.fixture
def bind(tools_of):
    def bind(parser, method="POST", **arguments):
        view = Sheets.as_view(parser_classes=[parser])
        tools = tools_of(path("sheets/", view)).values()
        return next(t for t in tools if t.endpoint.method == method).bind(arguments)

    return bind


@pytest.fixture
def call(expose, agent_of):
    def call(*parsers, **arguments):
        view = Sheets.as_view(parser_classes=parsers, http_method_names=["post"])
        expose(path("sheets/", view))
        (name,) = agent_of(None).tools()
        return agent_of(None).call(name, **arguments).envelope["data"]

    return call


def test_null_and_empty_lists_are_refused_by_the_place(bind):
    for arguments, place in [
        ({"title": None}, "title"),
        ({"file": None, "title": "a"}, None),
        ({"tags": []}, "tags"),
        ({"tags": ["a", None]}, "tags[1]"),
        ({"lines": [{"name": "a"}, None]}, "lines[1]"),
        ({"lines": [{}, {"name": "a"}]}, "lines[0]"),
        ({"lines": []}, "lines"),
        ({"lines": [{"name": "a", "tags": []}]}, "lines[0]tags"),
        ({"lines": [{"name": None}]}, "lines[0]name"),
        ({"motto": None}, "motto"),
    ]:
        for parser, method in [(each, m) for each in FORMS for m in ("POST", "PUT")]:
            if place is None:
                bind(parser, method, **arguments)
                continue
            with pytest.raises(ArgumentsRefused, match="a form cannot hold") as caught:
                bind(parser, method, **arguments)
            assert f"leave out {place}" in caught.value.problems[0].message


def test_null_is_sent_where_a_form_can_say_it(call):
    for parser in FORMS:
        sent = {"subtitle": None, "count": None, "lines": [{"count": None}], "meta": {"a": None}}
        found = call(parser, **sent)
        assert (found["subtitle"], found["count"], found["meta"]) == ("None", "None", "{'a': None}")
        assert found["lines"] == "[{'count': None}]"


@pytest.mark.parametrize("parsers", [[JSONParser, MultiPartParser], [MultiPartParser]])
def test_left_out_booleans_are_as_over_http_with_a_file_and_without(call, http_of, parsers):
    for file in ({}, {"file": FILE}):
        found = call(*parsers, title="a", **file)
        upload = {"file": SimpleUploadedFile("a.txt", b"x", "text/plain")} if file else {}
        style = "json" if JSONParser in parsers and not file else "multipart"
        over_http = http_of(None).post("/sheets/", {"title": "a", **upload}, format=style)
        assert found == over_http.json()


def test_an_empty_form_is_read_as_a_form(call):
    for parser in FORMS:
        assert call(parser)["is_public"] == "False"
