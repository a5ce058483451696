"""Files in bodies that no serializer reads: a value is sent as a file or as a text, or refused."""

from __future__ import annotations

import base64
import json

import pytest
from django.test import RequestFactory
from django.urls import path
from hypothesis import given
from hypothesis import strategies as st
from rest_framework import generics, serializers, views
from rest_framework.parsers import (
    BaseParser,
    FileUploadParser,
    FormParser,
    JSONParser,
    MultiPartParser,
)
from rest_framework.request import Request
from rest_framework.response import Response

from drf_mcp.errors import ArgumentsRefused

CONTENT = b"%PDF-1.4 a report"
ENCODED = base64.b64encode(CONTENT).decode()
URI = f"data:application/pdf;name=report.pdf;base64,{ENCODED}"
FORM = [MultiPartParser, FormParser]


class Keeps(views.APIView):
    """Reads a file and a text by key."""

    parser_classes = FORM

    def post(self, request):
        kept = {"file": request.data["file"], "note": request.data.get("note")}
        return Response({name: str(value) for name, value in kept.items()})


class KeepsAny(Keeps):
    """Reads the whole body."""

    def post(self, request):
        return Response(sorted(request.data.items()))


def posted(tool, **arguments):
    call = tool.bind(arguments)
    request = RequestFactory().generic(
        "POST",
        "/",
        bytes(call.body),
        content_type=call.content_type,
        headers={"Content-Disposition": call.disposition} if call.disposition else None,
    )
    return Request(request, parsers=[parser() for parser in tool.view.parser_classes]).data


def refused(tool, **arguments):
    with pytest.raises(ArgumentsRefused) as caught:
        tool.bind(arguments)
    (problem,) = caught.value.problems
    return problem


@pytest.fixture
def keeps(tool_of):
    return tool_of(path("keeps/", Keeps.as_view()))


def test_base64_for_a_key_that_may_be_a_text_is_refused(keeps):
    for value in [
        ENCODED,
        base64.b64encode(b"hello").decode(),
        base64.encodebytes(bytes(range(99))).decode(),
    ]:
        problem = refused(keeps, note=value)
        assert (problem.code, problem.pointer) == ("invalid", "/note"), value
        assert "data:TYPE;name=FILE_NAME;base64,CONTENT" in problem.remediation, value


def test_a_value_that_is_no_base64_is_sent_as_text(keeps):
    for value in [
        "draft",
        "Northwind Traders International Limited",
        "6d5f807e23db210bc254a28be2d6759a0f5f5d99b0b1d0b0a0b0c0d0e0f01020",
        "5d1f0fc5-7b0a-4b44-a2a3-0f6c6e1f8a11",
        True,
    ]:
        sent = value if isinstance(value, str) else json.dumps(value)
        assert posted(keeps, note=value)["note"] == sent


@given(content=st.binary(min_size=40, max_size=400))
def test_a_file_is_never_sent_as_text(keeps, content):
    """A data URI is sent as a file; base64 is sent as a file or refused, depending on the key."""
    text = base64.b64encode(content).decode()
    assert posted(keeps, note=f"data:;base64,{text}")["note"].read() == content
    assert posted(keeps, file=text)["file"].read() == content
    kinds = {str.isupper: 0, str.islower: 0, str.isdigit: 0}
    if text.endswith("=") or all(any(map(kind, text)) for kind in kinds):
        assert refused(keeps, note=text).pointer == "/note"


def test_the_schema_says_how_to_send_a_file(keeps):
    properties = keeps.input_schema["properties"]
    assert "base64" in properties["file"]["description"]
    assert "data:TYPE" in properties["note"]["description"]


@pytest.fixture
def keeps_any(tool_of):
    return tool_of(path("any/", KeepsAny.as_view()))


def test_an_open_body_takes_files_as_data_uris(keeps_any):
    assert posted(keeps_any, body={"a": URI, "b": "text"})["a"].read() == CONTENT
    assert "data:TYPE" in keeps_any.input_schema["properties"]["body"]["description"]


class Raw(BaseParser):
    """Reads the bytes of an image."""

    media_type = "image/png"

    def parse(self, stream, media_type=None, parser_context=None):
        return stream.read()


class Either(views.APIView):
    """Reads a body that is one file, or JSON."""

    parser_classes = [JSONParser, FileUploadParser]

    def post(self, request):
        return Response([request.FILES["file"].size, request.data.get("title")])


def test_a_file_is_the_body_if_no_parser_reads_forms(tool_of):
    tool = tool_of(path("either/", Either.as_view()))
    assert not tool.findings
    assert posted(tool, file=URI)["file"].read() == CONTENT
    assert posted(tool, title="t") == {"title": "t"}


class FileAlone(serializers.Serializer):
    file = serializers.FileField()


class JSONAlone(generics.CreateAPIView):
    parser_classes = [JSONParser]
    serializer_class = FileAlone
    permission_classes = ()


def test_a_view_without_a_parser_for_files_refuses_them_as_over_http(tool_of):
    tool = tool_of(path("json/", JSONAlone.as_view()))
    assert "MultiPartParser" in tool.findings[0].remedy
    data = posted(tool, file=ENCODED)
    assert data == {"file": ENCODED}
    assert FileAlone(data=data).is_valid() is False


class Counted(list):
    """A list that counts its iterations."""

    reads = 0

    def __iter__(self):
        self.reads += 1
        return super().__iter__()


class PaperSerializer(serializers.Serializer):
    scan = serializers.FileField(required=False)
    pages = serializers.JSONField()


class Papers(generics.CreateAPIView):
    """Reads JSON or a form."""

    serializer_class = PaperSerializer
    parser_classes = [JSONParser, MultiPartParser]


# --- Several problems at once -------------------------------------------------------------


class Report(generics.CreateAPIView):
    class serializer_class(serializers.Serializer):
        title = serializers.CharField()
        file = serializers.FileField()
        scan = serializers.ImageField(required=False)
