"""Answers that are not JSON: text, files and streams, and when they are closed."""

from __future__ import annotations

import base64
import gzip
import itertools
import json

import pytest
from django.http import FileResponse

from tests.dispatch.views import Source, answering, sending

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
KEPT = "http://testserver/thing/"


@pytest.mark.parametrize(
    "media_type",
    [
        "text/plain",
        "text/csv",
        "text/calendar",
        "text/html; charset=utf-8",
        "text/markdown",
        "application/xml",
        "application/atom+xml",
        "application/yaml",
        "application/x-ndjson",
    ],
)
def test_text_is_the_data(serve, media_type):
    thing = serve(sending("a;é\n1;🎩\n", media_type))
    result = thing.call()
    assert result.data == {"result": thing.get().content.decode()}
    assert [block["type"] for block in result.raw["content"]] == ["text"]


@pytest.mark.parametrize(
    ("body", "media_type", "text"),
    [
        ("é".encode("latin-1"), "text/plain; charset=latin-1", "é"),
        (b"a\xffb", "text/plain", "a\ufffdb"),
    ],
)
def test_text_is_decoded_by_its_charset_and_wrong_bytes_are_replaced(serve, body, media_type, text):
    assert serve(sending(body, media_type)).call().data == {"result": text}


@pytest.mark.parametrize(
    ("media_type", "kind"),
    [("image/png", "image"), ("image/svg", "image"), ("audio/mpeg", "audio")],
)
def test_images_and_sounds_are_image_and_audio_blocks(serve, media_type, kind):
    thing = serve(sending(PNG, media_type))
    result = thing.call()
    text, block = result.raw["content"]
    assert text["type"] == "text"
    assert (block["type"], block["mimeType"]) == (kind, media_type)
    assert base64.b64decode(block["data"]) == thing.get().content
    assert result.data == {"media_type": media_type, "size": len(PNG), "name": "thing"}


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        ('attachment; filename="report.pdf"', "report.pdf"),
        ("inline; filename=report.pdf", "report.pdf"),
        ('attachment; filename="a; b.pdf"', "a; b.pdf"),
        ("attachment; filename*=utf-8''na%C3%AFve%20hat.pdf", "naïve hat.pdf"),
        ('attachment; filename="/srv/secret/report.pdf"', "report.pdf"),
        ('attachment; filename="../../report.pdf"', "report.pdf"),
        (r'attachment; filename="C:\srv\secret\report.pdf"', "report.pdf"),
        (r"attachment; filename=\\host\share\report.pdf", "report.pdf"),
        ("attachment; filename*=utf-8''..%2Fsecret%2Fna%C3%AFve.pdf", "naïve.pdf"),
        ("attachment; filename*=utf-8''secret%5Creport.pdf", "report.pdf"),
        ("attachment; filename*=utf-8''report%00%0A.pdf", "report.pdf"),
        ("attachment; filename*=nonsense''report.pdf", "thing"),
        ('attachment; filename="/srv/secret/"', "thing"),
        ('attachment; filename=".."', "thing"),
        ("attachment", "thing"),
        ("", "thing"),
    ],
)
def test_a_file_has_the_name_of_content_disposition_without_its_path(serve, disposition, name):
    view = sending(b"%PDF", "application/pdf", **{"Content-Disposition": disposition})
    assert serve(view).call().data["name"] == name


def test_a_file_response_does_not_give_away_the_path_of_its_file(serve, tmp_path):
    (tmp_path / "secret.pdf").write_bytes(b"%PDF")

    def answer(request) -> FileResponse:
        return FileResponse((tmp_path / "secret.pdf").open("rb"), as_attachment=True)

    result = serve(answering(answer)).call()
    assert result.data["name"] == "secret.pdf"
    assert tmp_path.name not in json.dumps(result.raw)


@pytest.mark.parametrize("media_type", ["application/pdf", "audio/mpeg", "image/png"])
def test_a_file_over_the_limit_is_a_link(serve, media_type):
    thing = serve(sending(b"x" * 11, media_type), MAX_CONTENT_BYTES=10)
    result = thing.call()
    link = {"type": "resource_link", "uri": KEPT, "name": "thing", "mimeType": media_type}
    assert result.raw["content"][1] == link
    assert result.data == {"media_type": media_type, "name": "thing", "size": 11, "uri": KEPT}
    assert not result.is_error


@pytest.mark.parametrize("status", [200, 204, 302, 404, 500])
def test_a_stream_is_closed_once_with_every_status(serve, status):
    source = Source([b"a", b"b"])
    serve(sending(source, "text/plain", status)).call()
    assert source.closed == 1


LINKED = {"name": "thing", "uri": KEPT}


@pytest.mark.parametrize(
    ("media_type", "data"),
    [
        ("application/json", {"media_type": "application/json", **LINKED}),
        ("video/mp4", {"media_type": "video/mp4", **LINKED}),
        ("text/event-stream", {"result": "x" * 100}),
    ],
)
def test_an_endless_stream_is_cut_closed_and_linked(serve, media_type, data):
    source = Source(itertools.repeat(b"x" * 10))
    result = serve(sending(source, media_type), MAX_CONTENT_BYTES=100).call()
    assert (source.taken, source.closed) == (11, 1)
    assert result.data == data
    assert result.raw["content"][1]["type"] == "resource_link"


def test_a_stream_that_raises_is_an_internal_error_and_is_closed(serve):
    def torn():
        yield b"a"
        raise OSError("secret disk")

    source = Source(torn())
    result = serve(sending(source, "text/plain")).call()
    assert (result.code, source.closed) == ("INTERNAL_ERROR", 1)
    assert "secret disk" not in str(result.raw)


def test_a_large_file_is_a_link_with_its_size(serve, tmp_path):
    path = tmp_path / "film.mp4"
    path.write_bytes(b"\0" * 300_000)
    view = answering(lambda request: FileResponse(path.open("rb")))
    result = serve(view, MAX_CONTENT_BYTES=1000).call()
    assert (result.data["size"], result.data["name"]) == (300_000, "film.mp4")


@pytest.mark.parametrize("media_type", ["application/json", "text/plain", "application/pdf"])
def test_encoded_content_is_a_link_with_a_warning(serve, media_type):
    body = gzip.compress(b"[]")
    result = serve(sending(body, media_type, **{"Content-Encoding": "gzip"})).call()
    assert result.data == {"media_type": media_type, "size": len(body), **LINKED}
    assert result.raw["content"][1]["type"] == "resource_link"
    (warning,) = result.envelope["meta"]["warning_details"]
    assert warning["context"]["reason"] == "encoded"
