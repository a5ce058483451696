"""A message in chunks is read by real servers, by WSGI and by ASGI."""

from __future__ import annotations

import json
from contextlib import suppress
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from tests.programs.interop.servers import RunningServer

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def posted_in_chunks(server: RunningServer) -> tuple[int, dict]:
    """Send a message in three chunks without a Content-Length; return status and answer."""
    text = json.dumps(PING).encode()
    headers = {
        "Authorization": f"Token {server.shop.tokens['alice']}",
        "Content-Type": "application/json",
    }
    url = urlsplit(server.url)
    connection = HTTPConnection(url.hostname, url.port, timeout=30)
    try:
        chunks = iter([text[:5], text[5:20], text[20:]])
        # A server that requires a length answers and closes before the last chunk is sent.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request("POST", url.path, chunks, headers, encode_chunked=True)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


@pytest.mark.parametrize("kind", ["gunicorn", "uvicorn"])
def test_a_message_in_chunks_is_answered(server_of, kind):
    status, answer = posted_in_chunks(server_of(kind))
    assert (status, answer["result"]) == (200, {})


@pytest.mark.nightly
def test_runserver_requires_a_length(server_of):
    status, _ = posted_in_chunks(server_of("runserver"))
    assert status == 411
