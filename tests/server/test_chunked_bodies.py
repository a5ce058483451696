"""Bodies without a Content-Length: read if the server marks the end of the body, otherwise 411."""

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


def chunked(body: bytes | io.BytesIO, **meta) -> WSGIRequest:
    """Return the request that gunicorn makes of chunks: the joined body without a length."""
    environ = RequestFactory()._base_environ(
        REQUEST_METHOD="POST", PATH_INFO="/mcp", CONTENT_TYPE="application/json"
    )
    environ.pop("CONTENT_LENGTH", None)
    stream = body if isinstance(body, io.BytesIO) else io.BytesIO(body)
    environ |= {"wsgi.input": stream, "HTTP_TRANSFER_ENCODING": "chunked"}
    return WSGIRequest(environ | {"wsgi.input_terminated": True} | meta)


def get_response(request: WSGIRequest) -> HttpResponse:
    return MCPView.as_view()(request)


@pytest.fixture(autouse=True)
def _open_endpoint(expose) -> None:
    expose(MAX_BODY_BYTES=200)


def test_a_body_with_a_marked_end_is_read():
    request = chunked(PING)
    response = get_response(request)
    assert (response.status_code, json.loads(response.content)) == (200, PONG)
    # Authentication classes may read the body too.
    assert request.body == PING


def test_a_body_that_middleware_read_is_used():
    request = chunked(b"")
    request._body = PING
    assert get_response(request).status_code == 200


def test_a_body_over_the_limit_is_refused(subtests):
    for size, status in [(200, 200), (201, 413)]:
        with subtests.test(size=size, status=status):
            request = chunked(PING.ljust(size))
            assert get_response(request).status_code == status


def test_reading_stops_after_the_limit():
    stream = io.BytesIO(PING.ljust(100_000))
    get_response(chunked(stream))
    assert stream.tell() == 201


def test_a_body_without_a_marked_end_gets_411():
    response = get_response(chunked(PING, **{"wsgi.input_terminated": False}))
    assert response.status_code == 411
    assert "Content-Length" in json.loads(response.content)["error"]["message"]


class FailingStream(io.BytesIO):
    def __init__(self, exception: Exception) -> None:
        super().__init__()
        self.exception = exception

    def read(self, size=-1, /) -> bytes:
        raise self.exception


def test_a_body_that_cannot_be_read_gets_400(subtests):
    # The exceptions of gunicorn about chunks are no OSError.
    for stream in [FailingStream(OSError("reset")), FailingStream(InvalidChunkSize(b"zz"))]:
        with subtests.test(stream=stream):
            response = get_response(chunked(stream))
            assert response.status_code == 400
