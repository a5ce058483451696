"""Views whose parsers do not read plain JSON."""

from __future__ import annotations

from rest_framework import generics, serializers
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser, JSONParser

from tests.introspection.inspected import described


class LinesParser(BaseParser):
    media_type = "text/lines"

    def parse(self, stream, media_type=None, parser_context=None):
        return {"name": stream.read().decode()}


class EnvelopeParser(JSONParser):
    """Reads JSON documents with a member data."""

    media_type = "application/vnd.own+json"

    def parse(self, stream, media_type=None, parser_context=None):
        document = super().parse(stream, media_type, parser_context)
        if "data" not in document:
            raise ParseError("No data.")
        return document["data"]


class NameSerializer(serializers.Serializer):
    name = serializers.CharField()

    def create(self, validated_data):
        return validated_data


class Lines(generics.CreateAPIView):
    serializer_class = NameSerializer
    parser_classes = (LinesParser,)


class Enveloped(generics.CreateAPIView):
    serializer_class = NameSerializer
    parser_classes = (EnvelopeParser,)


def test_a_view_without_a_json_parser_takes_its_document_as_text():
    schema = described(Lines, "POST")
    words = "The request body: a document of text/lines. It holds name."
    assert schema.body.kind == "open"
    assert schema.body.schema == {"type": "string", "description": words}
    assert [finding.message for finding in schema.findings] == [
        "The view reads no JSON, but text/lines."
    ]


def test_a_parser_that_refuses_a_plain_object_takes_whole_documents():
    schema = described(Enveloped, "POST")
    words = "The request body: a document of application/vnd.own+json. It holds name."
    assert schema.body.kind == "open"
    assert schema.body.schema == {"description": words}
    assert "No data." in schema.findings[0].message
