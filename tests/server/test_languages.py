"""Messages that are refused before a tool is called are refused in LANGUAGE."""

from __future__ import annotations

import functools
import io
import json

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import translation

from drf_mcp.server import Server
from drf_mcp.tools import registry
from drf_mcp.transports.in_process import LocalEndpoint
from drf_mcp.transports.stdio import StdioConnection, StdioServer

pytestmark = pytest.mark.django_db
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture(autouse=True)
def mark_texts(monkeypatch, settings, expose) -> None:
    """Write the active language in front of each translated text."""
    settings.LANGUAGE_CODE = "en"
    expose(LANGUAGE="de", MAX_BODY_BYTES=100, BROWSABLE_PAGE=True)
    tag = lambda text: f"{translation.get_language()}: {text}"  # noqa: E731
    monkeypatch.setattr(translation._trans, "gettext", tag, raising=False)


def message_of(body: bytes) -> str:
    return json.loads(body)["error"]["message"]


def test_a_body_is_refused_in_the_language_of_the_setting(subtests):
    for body, headers, message in [
        (b"{", {}, "de: The body is not JSON"),
        (b" " * 101, {}, "de: The request body is larger"),
    ]:
        with subtests.test(body=body, headers=headers, message=message):
            response = Client(headers=headers).post("/mcp", body, "application/json")
            assert message_of(response.content).startswith(message)


def test_the_browsable_page_is_in_the_language_of_the_request():
    page = Client(headers={"Accept": "text/html"}).get("/mcp").content.decode()
    assert "<html" in page
    assert "en: " in page
    assert "de: " not in page


def test_a_line_over_stdio_is_refused_in_the_language_of_the_setting(subtests):
    for line, message in [(b"{\n", "de: The body is not JSON"), (b" " * 101, "de: The line is")]:
        with subtests.test(line=line, message=message):
            alice, written = User.objects.get(username="alice"), []
            make_caller = functools.partial(LocalEndpoint().make_caller, alice)
            connection = StdioConnection(Server(registry), make_caller, written.append)
            StdioServer(connection, threads=1).serve(io.BytesIO(line))
            assert message_of(written[0]).startswith(message)
