"""Bodies without a Content-Length: read where the server says where they end, else 411."""

from __future__ import annotations

import io
import json

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse
from django.test import RequestFactory
from gunicorn.http.errors import InvalidChunkSize

from drf_mcp.views import MCPView

PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
PONG = {"jsonrpc": "2.0", "id": 1, "result": {}}


class Broken(io.BytesIO):
    def read(self, size=-1, /) -> bytes:
        raise OSError("the chunk has no length")


def chunked(body: bytes | io.BytesIO, **meta) -> WSGIRequest:
    """Return a request as gunicorn passes it on: the chunks put together, no length."""
    environ = RequestFactory()._base_environ(
        REQUEST_METHOD="POST", PATH_INFO="/mcp", CONTENT_TYPE="application/json"
    )
    environ.pop("CONTENT_LENGTH", None)
    stream = body if isinstance(body, io.BytesIO) else io.BytesIO(body)
    environ |= {"wsgi.input": stream, "HTTP_TRANSFER_ENCODING": "chunked"}
    return WSGIRequest(environ | {"wsgi.input_terminated": True} | meta)


def answered(request: WSGIRequest) -> HttpResponse:
    return MCPView.as_view()(request)


@pytest.fixture(autouse=True)
def _open_endpoint(expose) -> None:
    expose(MAX_BODY_BYTES=200)


def test_a_body_that_the_server_ends_is_read():
    request = chunked(PING)
    response = answered(request)
    assert (response.status_code, json.loads(response.content)) == (200, PONG)
    # Authentication sees the body too.
    assert request.body == PING


def test_a_body_that_middleware_found_empty_is_read_all_the_same():
    request = chunked(PING)
    assert request.body == b""
    assert answered(request).status_code == 200


def test_a_body_that_middleware_put_together_is_left_alone():
    request = chunked(b"")
    request._body = PING
    assert answered(request).status_code == 200


def test_the_limit_holds(subtests):
    for size, status in [(200, 200), (201, 413)]:
        with subtests.test(size=size, status=status):
            request = chunked(PING.ljust(size))
            assert answered(request).status_code == status


def test_no_more_than_the_limit_is_read():
    stream = io.BytesIO(PING.ljust(100_000))
    answered(chunked(stream))
    assert stream.tell() == 201


def test_djangos_own_limit_holds(settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    request = chunked(PING.ljust(101))
    assert answered(request).status_code == 413


def test_a_server_that_would_block_is_answered_411():
    response = answered(chunked(PING, **{"wsgi.input_terminated": False}))
    assert response.status_code == 411
    assert "Content-Length" in json.loads(response.content)["error"]["message"]


class Malformed(io.BytesIO):
    def read(self, size=-1, /) -> bytes:
        # As gunicorn's own exceptions of chunks, of which none is an OSError.
        raise InvalidChunkSize(b"zz")


def test_a_body_that_breaks_off_or_is_malformed_is_answered_400(subtests):
    for stream in [Broken(), Malformed()]:
        with subtests.test(stream=stream):
            response = answered(chunked(stream))
            assert response.status_code == 400


def test_a_request_without_any_body_is_no_json(settings):
    request = chunked(b"", **{"wsgi.input_terminated": False})
    del request.META["HTTP_TRANSFER_ENCODING"]
    response = answered(request)
    assert (response.status_code, json.loads(response.content)["error"]["code"]) == (400, -32700)
