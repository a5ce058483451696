"""Answers with a Content-Encoding: linked, since a call undoes none."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from django.http import HttpResponse, StreamingHttpResponse
from django.views.decorators.gzip import gzip_page

from tests.dispatch.views import answering

KEPT = "http://testserver/thing/"
HELLO = "hello wörld\n" * 10


def sending(body: Any, media_type: str, encoding: str, status: int = 200):
    """Return a view that answers with this body, said to be encoded so."""
    kind = HttpResponse if isinstance(body, bytes) else StreamingHttpResponse
    headers = {"Content-Encoding": encoding}
    return answering(
        lambda request: kind(body, content_type=media_type, headers=headers, status=status)
    )


@pytest.mark.parametrize("encoding", ["identity", "Identity", ""])
def test_content_without_an_encoding_is_the_data(serve, encoding):
    body = HELLO.encode()
    assert serve(sending(body, "text/plain", encoding)).call().data == {"result": HELLO}


def test_nothing_that_is_encoded_is_nothing(serve):
    assert serve(sending(b"", "application/json", "gzip")).call().data == {}


def test_the_decorator_of_django_changes_nothing(serve):
    view = gzip_page(answering(lambda request: HttpResponse(HELLO * 99, content_type="text/plain")))
    assert serve(view, MAX_RESULT_CHARS=None).call().data == {"result": HELLO * 99}


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "gzip, br"])
@pytest.mark.parametrize("media_type", ["application/json", "text/plain", "application/pdf"])
def test_encoded_content_is_a_link_that_says_so(serve, media_type, encoding):
    body = gzip.compress(b"[]")
    result = serve(sending(body, media_type, encoding)).call()
    assert result.data == {
        "media_type": media_type,
        "name": "thing",
        "size": len(body),
        "content_encoding": encoding,
        "uri": KEPT,
    }
    assert result.raw["content"][1]["type"] == "resource_link"
    assert result.envelope["meta"]["content_fidelity"] == "reference_only"
    assert result.envelope["meta"]["warning_details"] == [
        {
            "code": "CONTENT_NOT_DECODED",
            "severity": "warning",
            "message": f"A link stands for the content: its encoding '{encoding}' is not undone.",
            "context": {"content_encoding": encoding},
        }
    ]


def test_an_encoded_stream_is_not_read(serve):
    taken = []

    def chunks():
        taken.append("chunk")
        yield b"\x0b"

    assert serve(sending(chunks(), "text/plain", "br")).call().data["content_encoding"] == "br"
    assert taken == []


def test_an_encoded_error_is_told_by_its_status(serve):
    body = gzip.compress(b'{"detail": "No bank."}')
    result = serve(sending(body, "application/json", "gzip", status=404)).call()
    assert (result.code, result.envelope["error"]) == ("NOT_FOUND", "Not Found")
