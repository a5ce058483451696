"""Services of the library that fail, and a language model that answers."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from example_project.library.models import Document

QUESTION = {"question": "What is a lambda?"}
ANSWER = "A lambda is a small function without a name [1]."


class FakeModel(BaseHTTPRequestHandler):
    """An OpenAI-compatible endpoint that sends the reply of its server."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, dict(self.headers), body))

        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(self.server.content)

    def log_message(self, *args) -> None:
        """Log nothing."""


class FakeServer(HTTPServer):
    """The server of a `FakeModel`, whose reply a test may change at any time."""

    status = 200
    headers: dict[str, str] = {}
    content = json.dumps({"choices": [{"message": {"content": ANSWER}}]}).encode()

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), FakeModel)
        self.requests: list[tuple] = []

    def handle_error(self, *args) -> None:
        """Ignore clients that disconnect."""


@contextmanager
def serving(server: HTTPServer) -> Iterator[None]:
    """Serve in a thread until the block ends."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def model(settings) -> Iterator[FakeServer]:
    """A language model, which the library is configured to use."""
    server = FakeServer()
    settings.LIBRARY_ANSWER_MODEL = {
        "URL": f"http://127.0.0.1:{server.server_port}/v1/chat/completions",
        "NAME": "small",
        "KEY": "secret",
        "TIMEOUT": 5,
    }
    with serving(server):
        yield server


def assert_unavailable(agent, sentence: str) -> dict:
    """Assert that a tool is unavailable, and return the data of the error."""
    refusal = agent.call_with("naive_retriever", QUESTION)
    assert refusal.is_error
    assert (refusal.code, refusal.data["error_type"]) == ("UNAVAILABLE", "unavailable")
    assert sentence in refusal.envelope["error"]
    return refusal.data


def test_the_model_answers_from_the_context(alice, model):
    data = alice.call_with("naive_retriever", QUESTION).data
    assert data == {"answer": ANSWER, "context_document_count": 3}
    ((path, headers, body),) = model.requests
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer secret"
    assert body["model"] == "small"
    prompt = body["messages"][-1]["content"]
    assert "[1] Lambdas" in prompt
    assert "anonymous functions" in prompt
    assert prompt.endswith("Question: What is a lambda?")


def test_a_model_that_cannot_be_reached_is_unavailable(alice, settings):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/"
        settings.LIBRARY_ANSWER_MODEL = {"URL": url, "NAME": "small"}
        assert_unavailable(alice, "The answering model cannot be reached.")


def test_the_rate_limit_of_the_model_says_how_long_to_wait(alice, model):
    model.status, model.headers = 429, {"Retry-After": "7"}
    refusal = assert_unavailable(alice, "asked too often")
    assert refusal["retry_after_seconds"] == 7
    assert refusal["remediation"].startswith("Wait 7 seconds")


def test_a_model_with_a_malformed_answer_is_unavailable(alice, model):
    for content in (b"", b"<html>", b"[]", b"{}", b'{"choices": []}', b"null"):
        model.content = content
        assert_unavailable(alice, "The answering model sent something else.")


def test_an_error_is_not_stored(alice, model):
    model.status = 500
    assert_unavailable(alice, "HTTP status 500")
    model.status = 200
    assert alice.call_with("naive_retriever", QUESTION).data["answer"] == ANSWER


def test_http_answers_503(http, model):
    model.status = 500
    assert http.post("/api/library/naive_retriever/", QUESTION).status_code == 503


class BrokenCache:
    """A cache that cannot be reached."""

    def __getattr__(self, name: str):
        def fail(*args, **kwargs):
            raise ConnectionRefusedError("redis:6379 with password hunter2")

        return fail


@pytest.fixture
def broken_cache(monkeypatch) -> None:
    """Replace the cache by one that cannot be reached."""
    monkeypatch.setattr("example_project.library.stored_answers.cache", BrokenCache())


@pytest.mark.usefixtures("broken_cache")
def test_without_its_cache_the_library_is_unavailable(alice):
    for tool, arguments in (
        ("naive_retriever", QUESTION),
        ("health_check_health_get", {}),
        ("cache_stats_cache_stats_get", {}),
    ):
        refusal = alice.call_with(tool, arguments)
        assert refusal.code == "UNAVAILABLE", tool
        assert "hunter2" not in json.dumps(refusal.raw), tool


def test_an_empty_library_is_unavailable_and_says_how_to_seed_it(alice):
    Document.objects.all().delete()
    assert_unavailable(alice, "manage.py seed")
    assert alice.call("health_check_health_get").code == "UNAVAILABLE"
