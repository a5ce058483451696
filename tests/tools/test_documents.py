"""Bodies of views whose parsers do not read plain JSON."""

from __future__ import annotations

from django.urls import path

from tests.introspection.test_documents import Enveloped, Lines


def test_a_text_is_sent_unchanged_to_a_parser_of_texts(tools_of):
    call = tools_of(path("lines/", Lines.as_view()))["lines_create"].bind({"body": "a\nb"})
    assert (call.body, call.content_type) == (b"a\nb", "text/lines")


def test_a_document_is_sent_as_json_with_the_media_type_of_the_parser(tools_of):
    tool = tools_of(path("rows/", Enveloped.as_view()))["rows_create"]
    call = tool.bind({"body": {"data": {"name": "a"}}})
    assert call.body == b'{"data":{"name":"a"}}'
    assert call.content_type == "application/vnd.own+json"
