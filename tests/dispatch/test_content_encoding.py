"""Answers with a Content-Encoding: read as an HTTP client reads them, or linked."""

from __future__ import annotations

import base64
import gzip
import json
import time
import zlib
from typing import Any

import pytest
from django.http import HttpResponse, StreamingHttpResponse
from django.views.decorators.gzip import gzip_page

from tests.dispatch.views import answering

KEPT = "http://testserver/thing/"
ROWS = [{"id": number, "name": f"hat {number}"} for number in range(3)]
HELLO = "hello wörld\n" * 10


def deflated(content: bytes, wbits: int) -> bytes:
    """Return content compressed without the head of gzip."""
    compressor = zlib.compressobj(wbits=wbits)
    return compressor.compress(content) + compressor.flush()


ENCODED = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "capitals": ("GZip", gzip.compress),
    "several members": ("gzip", lambda it: gzip.compress(it[:5]) + gzip.compress(it[5:])),
    "deflate": ("deflate", zlib.compress),
    "deflate without a head": ("deflate", lambda it: deflated(it, -zlib.MAX_WBITS)),
    "identity": ("identity", lambda it: it),
}
encoded = pytest.mark.parametrize(("encoding", "encode"), ENCODED.values(), ids=ENCODED)


def sending(body: Any, media_type: str, encoding: str, status: int = 200):
    """Return a view that answers with this body, said to be encoded so."""
    kind = HttpResponse if isinstance(body, bytes) else StreamingHttpResponse
    headers = {"Content-Encoding": encoding}
    return answering(
        lambda request: kind(body, content_type=media_type, headers=headers, status=status)
    )


def details(result) -> list[dict[str, Any]]:
    """Return the warnings of a result."""
    return result.envelope["meta"].get("warning_details", [])


@encoded
def test_json_that_is_encoded_is_data(serve, encoding, encode):
    body = encode(json.dumps(ROWS).encode())
    result = serve(sending(body, "application/json", encoding)).call()
    assert result.data == {"results": ROWS}
    assert "content_fidelity" not in result.envelope["meta"]


@encoded
def test_text_that_is_encoded_is_the_data(serve, encoding, encode):
    body = encode(HELLO.encode())
    assert serve(sending(body, "text/plain", encoding)).call().data == {"result": HELLO}


def test_a_picture_that_is_encoded_is_a_picture_of_its_own_size(serve):
    result = serve(sending(gzip.compress(b"\x89PNG" * 9), "image/png", "gzip")).call()
    assert base64.b64decode(result.raw["content"][1]["data"]) == b"\x89PNG" * 9
    assert result.data["size"] == 36


def test_a_stream_that_is_encoded_is_read(serve):
    body = gzip.compress(HELLO.encode())
    thing = serve(sending([body[:9], body[9:]], "text/plain", "gzip"))
    assert thing.call().data == {"result": HELLO}


def test_an_error_that_is_encoded_says_why(serve):
    body = gzip.compress(b'{"detail": "No bank."}')
    result = serve(sending(body, "application/json", "gzip", status=502)).call()
    assert result.envelope["error"] == "No bank."


def test_nothing_that_is_encoded_is_nothing(serve):
    assert serve(sending(b"", "application/json", "gzip")).call().data == {}
    assert serve(sending(b"", "application/json", "br")).call().data == {}


def test_the_decorator_of_django_changes_nothing(serve):
    view = gzip_page(answering(lambda request: HttpResponse(HELLO * 99, content_type="text/plain")))
    assert serve(view, MAX_RESULT_CHARS=None).call().data == {"result": HELLO * 99}


def test_what_grows_over_the_limit_is_decoded_up_to_it(serve):
    """Half a megabyte that decodes to a hundred."""
    bomb = gzip.compress(b"\0" * 100_000_000, 1)
    thing = serve(sending(bomb, "application/json", "gzip"), MAX_CONTENT_BYTES=1000)
    began = time.monotonic()
    result = thing.call()
    assert time.monotonic() - began < 2
    assert result.data == {"media_type": "application/json", "name": "thing", "uri": KEPT}
    assert details(result)[0]["context"] == {"reason": "size_limit", "bytes_read": 1000}


def test_many_small_members_are_decoded_in_one_go(serve):
    body = gzip.compress(b"") * 50_000 + gzip.compress(b"end")
    thing = serve(sending(body, "text/plain", "gzip"))
    began = time.monotonic()
    assert thing.call().data == {"result": "end"}
    assert time.monotonic() - began < 5


def test_text_that_grows_over_the_limit_is_given_up_to_it(serve):
    body = gzip.compress(b"line\n" * 1000)
    result = serve(sending(body, "text/plain", "gzip"), MAX_CONTENT_BYTES=52).call()
    assert result.data == {"result": "line\n" * 10}
    assert result.envelope["meta"]["content_fidelity"] == "partial"


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, br"])
@pytest.mark.parametrize("media_type", ["application/json", "text/plain", "application/pdf"])
def test_an_encoding_that_cannot_be_undone_is_a_link_that_says_so(serve, media_type, encoding):
    result = serve(sending(b"\x0b\x02\x80", media_type, encoding)).call()
    assert result.data == {
        "media_type": media_type,
        "name": "thing",
        "size": 3,
        "content_encoding": encoding,
        "uri": KEPT,
    }
    assert result.raw["content"][1]["type"] == "resource_link"
    assert result.envelope["meta"]["content_fidelity"] == "reference_only"
    assert details(result) == [
        {
            "code": "CONTENT_NOT_DECODED",
            "severity": "warning",
            "message": "A link stands for the content: "
            f"its encoding '{encoding}' cannot be undone.",
            "context": {"content_encoding": encoding},
        }
    ]


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@pytest.mark.parametrize(
    "body",
    [b"never encoded", gzip.compress(HELLO.encode())[:-9], zlib.compress(HELLO.encode())[:-9]],
    ids=["not encoded", "half of gzip", "half of deflate"],
)
def test_what_does_not_decode_is_a_link_that_says_so(serve, body, encoding):
    result = serve(sending(body, "text/plain", encoding)).call()
    assert (result.data["uri"], result.data["size"]) == (KEPT, len(body))
    assert [detail["code"] for detail in details(result)] == ["CONTENT_NOT_DECODED"]


def test_a_stream_whose_encoding_cannot_be_undone_is_not_read(serve):
    taken = []

    def chunks():
        taken.append("chunk")
        yield b"\x0b"

    assert serve(sending(chunks(), "text/plain", "br")).call().data["content_encoding"] == "br"
    assert taken == []


def test_an_error_whose_encoding_cannot_be_undone_is_told_by_its_status(serve):
    result = serve(sending(b"\x0b\x02\x80", "text/plain", "br", status=404)).call()
    assert (result.code, result.envelope["error"]) == ("NOT_FOUND", "Not Found")
