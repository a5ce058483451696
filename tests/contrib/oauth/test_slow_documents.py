"""Hosts that never finish their answer, and documents that are read for nobody."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from oauth2_provider.models import get_application_model

from drf_mcp.contrib.oauth.documents import AgentFetcher, CIMDError
from tests.contrib.oauth.conftest import REDIRECT
from tests.contrib.oauth.test_documents import DOCUMENT, HOST, PUBLIC, certificate, internet

__all__ = ["certificate", "internet"]
SLOW = "host{number}.slow.example"


@pytest.fixture
def patience(project, configure) -> float:
    """Seconds that a document may take."""
    configure(CIMD_FETCH_TIMEOUT_SECONDS=1)
    return 1


@pytest.fixture
def hold(internet) -> Iterator[threading.Event]:
    """Yield an event that ends the answers of the server, and set it after the test."""
    over = threading.Event()
    yield over
    over.set()


@pytest.fixture
def slow(internet, hold) -> Callable[[Callable[[Any], None]], None]:
    """Let every host but ``HOST`` answer by a function."""

    def slow(answer: Callable[[Any], None]) -> None:
        def choose(handler: Any) -> None:
            (internet.send if handler.headers["Host"] == HOST else answer)(handler)

        internet.answer = choose

    return slow


def drip_headers(over: threading.Event) -> Callable[[Any], None]:
    def drip(handler: Any) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not over.wait(0.1):
            handler.wfile.write(b"x")
            handler.wfile.flush()

    return drip


def drip_body(over: threading.Event) -> Callable[[Any], None]:
    def drip(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.end_headers()
        while not over.wait(0.1):
            handler.wfile.write(b" ")
            handler.wfile.flush()

    return drip


def say_nothing(over: threading.Event) -> Callable[[Any], None]:
    return lambda handler: over.wait()


ANSWERS = [drip_headers, drip_body, say_nothing]


# --- Hosts that never finish --------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("answer", ANSWERS)
def test_a_host_that_never_finishes_is_left_at_the_timeout(
    patience, project, internet, slow, hold, answer
):
    slow(answer(hold))
    host = SLOW.format(number=1)
    internet.addresses[host] = [PUBLIC]
    began = time.monotonic()
    with pytest.raises(CIMDError):
        AgentFetcher().fetch(f"https://{host}/client.json")
    assert time.monotonic() - began < patience + 10
    assert project.authorize(client_id=DOCUMENT, redirect_uri=REDIRECT).status_code == 200


@pytest.mark.slow
def test_a_person_may_have_ten_documents_read_in_a_minute(project, internet):
    pages = [
        project.authorize(client_id=f"{DOCUMENT}?{number}", redirect_uri=REDIRECT)
        for number in range(12)
    ]
    assert {page.status_code for page in pages} == {400}
    assert len(internet.requests) == 10


# --- Requests without a person ------------------------------------------------------------------


@pytest.mark.slow
def test_anonymous_requests_read_no_document_and_leave_no_clients(project, internet):
    stranger = project.make_browser(None)
    for number in range(40):
        document = f"{DOCUMENT}?{number}"
        internet.document["client_id"] = document
        project.authorize(stranger, client_id=document, redirect_uri=REDIRECT, prompt="none")
        project.exchange("code", client_id=document)
        sent = {"token": "token", "client_id": document}
        stranger.post("/o/revoke_token/", sent)
    assert internet.requests == []
    assert not get_application_model().objects.filter(registration_source="cimd").exists()


def test_a_header_does_not_count_as_a_person(project, internet):
    stranger = project.make_browser(None)
    stranger.defaults["HTTP_DRF_MCP.PERSON"] = stranger.defaults["HTTP_DRF_MCP_PERSON"] = "1"
    stranger.post("/o/token/", {"grant_type": "refresh_token", "client_id": DOCUMENT})
    assert internet.requests == []
