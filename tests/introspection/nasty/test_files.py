"""Arguments with files reach the view as files or are refused."""

from __future__ import annotations

import base64
import json
import re
import tracemalloc
from contextlib import contextmanager

import pytest
from django.test import RequestFactory
from hypothesis import example, given
from hypothesis import strategies as st
from rest_framework.parsers import FileUploadParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.test import APIClient

from drf_mcp.arguments.encoders import choose_encoder
from drf_mcp.arguments.uploads import FileReader
from drf_mcp.errors import ArgumentsRefused
from drf_mcp.exposure import registry
from drf_mcp.introspection.types import Body, Upload
from tests.introspection.nasty import files
from tests.introspection.nasty.files import encoded, png

names = st.text(st.characters(codec="utf-8", exclude_characters="\0/\\"), min_size=1, max_size=20)
PDF = encoded(b"%PDF-1.4")


def tool(path):
    tools = registry.tools().values()
    return next(t for t in tools if t.endpoint.route.path == path and t.endpoint.method == "POST")


def sent(call):
    request = RequestFactory().generic(
        "POST", "/", bytes(call.body), content_type=call.content_type
    )
    return Request(request, parsers=[MultiPartParser()]).data


def problem(path, **arguments):
    with pytest.raises(ArgumentsRefused) as caught:
        tool(path).bind(arguments)
    (found,) = caught.value.problems
    assert found.remediation
    return found


@contextmanager
def counted_memory():
    """Give a function that returns the most bytes in use since the block began."""
    tracemalloc.start()
    try:
        yield lambda: tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_a_long_file_is_not_copied_in_memory(nasty):
    content = bytes(range(256)) * 8_192
    nasty(MAX_UPLOAD_BYTES=2 * len(content))
    document = tool("/document/")
    # What the first call makes once for all calls does not count.
    document.bind({"title": "t", "file": PDF})
    for spell, copies in [(encoded, 0), (lambda c: base64.encodebytes(c).decode(), 2.75)]:
        uri = f"data:image/png;name=a.png;base64,{spell(content)}"
        with counted_memory() as get_peak:
            body = document.bind({"title": "t", "file": uri}).body
            stream, length = body.open(), 0
            while piece := stream.read(65_536):
                length += len(piece)
            peak = get_peak()
        assert content in bytes(body), spell
        assert length == len(body) == len(bytes(body)), spell
        assert peak < (copies + 0.2) * len(content)


@given(st.text("AZaz09+/-_= \n\r\t\u2003é%", max_size=12))
@example("AAA=")
@example("A===")
@example("AA==AA==")
@example("=AAA")
@example("AA=\n=")
def test_a_text_is_refused_exactly_if_it_is_no_base64_in_any_alphabet(text):
    digits = re.sub(r"\s+", "", text).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        expected = base64.b64decode(digits + "=" * (-len(digits) % 4), validate=True)
    except ValueError:
        with pytest.raises(ArgumentsRefused, match="The file is not base64"):
            FileReader(Upload()).read(text)
        return
    file = FileReader(Upload()).read(text)
    assert (file.read(), file.size) == (expected, len(expected))


@given(content=st.binary(max_size=200), name=names, title=names)
def test_a_file_reaches_the_view_unchanged(nasty, content, name, title):
    uri = f"data:text/plain;name={quote_name(name)};base64,{encoded(content)}"
    form = sent(tool("/document/").bind({"title": title, "file": uri}))
    # Django's parser does not keep every character of a file name.
    assert form["file"].read() == content
    assert form["title"] == title


def quote_name(name):
    """Return a file name as a data URI has it."""
    from urllib.parse import quote

    return quote(name, safe="")


def test_base64_is_read_in_both_alphabets_without_padding_and_in_data_uris():
    cases = [
        encoded(b"\xff\xfe>?") + "\n",
        base64.urlsafe_b64encode(b"\xff\xfe>?").decode(),
        encoded(b"\xff\xfe>?").rstrip("="),
        "data:;base64," + encoded(b"\xff\xfe>?"),
        "data:text/plain,%FF%FE%3E%3F",
    ]
    assert [text for text in cases if FileReader(Upload()).read(text).read() != b"\xff\xfe>?"] == []


def test_a_file_gets_a_name_and_a_content_type():
    for text, upload, name, kind in [
        (encoded(png()), Upload(image=True), "upload.png", "image/png"),
        (PDF, Upload(("txt", "pdf")), "upload.pdf", "application/pdf"),
        (encoded(b"word"), Upload(("docx",)), "upload.docx", None),
        (encoded(b"word"), Upload(), "upload", "application/octet-stream"),
        ("data:image/jpeg;base64,AAAA", Upload(("jpeg",)), "upload.jpeg", "image/jpeg"),
        ("data:;name=a%20b.txt;base64,AAAA", Upload(), "a b.txt", "text/plain"),
        ("data:text/csv;name=..%2F..%5Cx.csv;base64,AAAA", Upload(), "x.csv", "text/csv"),
    ]:
        made = FileReader(upload).read(text)
        assert made.name == name
        assert kind is None or made.content_type == kind


def test_a_file_that_is_too_large_is_refused(nasty):
    nasty(MAX_UPLOAD_BYTES=10)
    for text in [encoded(b"x" * 11), "data:,elevenchars"]:
        found = problem("/document/", title="t", file=text)
        assert found.code == "max_size", text
        assert "at most 10" in found.message, text


def test_a_file_with_another_extension_is_refused(nasty):
    found = problem("/papers/", file="data:image/png;name=a.png;base64,AAAA")
    assert (found.code, found.accepted) == ("invalid_extension", "one of pdf, txt")


def test_a_field_that_reads_base64_itself_gets_the_text(nasty):
    call = tool("/own-text/").bind({"file": "!"})
    assert json.loads(call.body) == {"file": "!"}


def test_other_values_of_a_body_with_a_file_are_form_fields(nasty):
    arguments = {
        "pages": ["AAAA"],
        "parts": [{"label": 'a "b";\r\n', "notes": ["n", "m"]}],
        "main": {"label": "m"},
        "cover": None,
    }
    form = sent(tool("/bundle/").bind(arguments))
    assert form.pop("pages")[0].read() == b"\0\0\0"
    assert dict(form.lists()) == {
        "parts[0]label": ['a "b";\r\n'],
        "parts[0]notes[0]": ["n"],
        "parts[0]notes[1]": ["m"],
        "main.label": ["m"],
        "cover": [""],
    }


@pytest.fixture
def whole_file(nasty):
    return registry.tools()["whole_put"]


def test_a_body_that_is_one_file_is_sent_unencoded(nasty, whole_file, agent_of):
    content = bytes(range(256))
    over_http = APIClient().put("/whole/a.bin/", content, content_type="application/pdf").json()
    result = agent_of(None).call(whole_file.name, filename="a.bin", file=encoded(content))
    assert result.data == over_http == {"size": 256}


@pytest.mark.slow
@given(name=names, content=st.binary(min_size=1, max_size=50))
def test_a_body_that_is_one_file_keeps_its_name_and_type(nasty, name, content):
    uri = f"data:text/csv;name={quote_name(name)};base64,{encoded(content)}"
    encoder = choose_encoder(files.Whole(), Body("object"))
    upload = FileReader(Upload()).read(uri)
    body = encoder.encode({"file": upload})
    request = RequestFactory().generic(
        "PUT",
        "/",
        bytes(body.content),
        content_type=body.content_type,
        headers={"Content-Disposition": body.disposition},
    )
    file = Request(request, parsers=[FileUploadParser()]).data["file"]
    assert (file.name, file.content_type, file.read()) == (upload.name, "text/csv", content)


def test_the_description_says_how_to_send_a_file(nasty):
    described = tool("/papers/").input_schema["properties"]["file"]
    assert described["type"] == "string"
    for words in ("base64", "data URI", "1.0 MB", "pdf, txt"):
        assert words in described["description"]


def test_a_problem_does_not_repeat_a_file(nasty, agent_of):
    result = agent_of(None).call(tool("/document/").name, file=encoded(b"x" * 5000) + "!", title="")
    assert [problem["pointer"] for problem in result.problems] == ["/file"]
    assert len(json.dumps(result.raw)) < 5000
