"""One connection in this process: what is read, what is answered, in what order."""

from __future__ import annotations

import io
import json
import threading

import pytest
from django.contrib.auth.models import User
from django.core.signals import request_finished, request_started
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.exceptions import AuthenticationFailed

from drf_mcp.server import Reply, Server
from drf_mcp.tools import registry
from drf_mcp.transports.in_process import LocalEndpoint
from drf_mcp.transports.stdio import StdioConnection, StdioServer, Stopped, Work

pytestmark = pytest.mark.django_db


@pytest.fixture
def written() -> list[dict]:
    return []


@pytest.fixture
def connection(written) -> StdioConnection:
    alice = User.objects.get(username="alice")
    return made(written, lambda: LocalEndpoint().make_caller(alice))


def made(written: list, caller) -> StdioConnection:
    return StdioConnection(Server(registry), caller, lambda body: written.append(json.loads(body)))


def message(method: str, id=None, **params) -> bytes:
    members = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(members if id is None else {**members, "id": id}).encode()


def answer(connection: StdioConnection, line: bytes) -> None:
    work = connection.receive(line)
    assert work is not None
    connection.answer(work)


@pytest.mark.parametrize(
    "line", [message("ping", "1"), message("initialize", 1, protocolVersion="2025-06-18")]
)
def test_a_request_of_another_id_and_the_handshake_cannot_be_cancelled(connection, written, line):
    work = connection.receive(line)
    connection.receive(message("notifications/cancelled", requestId=1))
    connection.answer(work)
    assert "result" in written[0]


@pytest.mark.parametrize("number", [1, 1.0])
def test_a_request_cancelled_before_its_turn_is_not_begun(connection, written, number):
    work = connection.receive(message("tools/call", 1, name="stats", arguments={}))
    for unknown in (7, "x", None, [1], {}):
        connection.receive(message("notifications/cancelled", requestId=unknown))
    connection.receive(message("notifications/cancelled", requestId=number))
    connection.server = None  # whoever asks it fails
    connection.answer(work)
    assert written == []


def test_a_request_with_the_id_of_an_answered_one_can_be_cancelled_again(connection, written):
    answer(connection, message("ping", 1))
    work = connection.receive(message("ping", 1))
    connection.receive(message("notifications/cancelled", requestId=1))
    connection.answer(work)
    assert len(written) == 1


def test_a_batch_that_is_too_large_is_refused_whole(connection, written):
    answer(connection, message("initialize", 0, protocolVersion="2025-03-26"))
    answer(connection, b"[" + b",".join(message("ping", n) for n in range(21)) + b"]")
    assert (written[1]["id"], written[1]["error"]["code"]) == (None, -32600)
    assert "at most 20 messages" in written[1]["error"]["message"]


def test_a_user_who_is_gone_is_refused(written):
    def gone():
        raise AuthenticationFailed("There is no user 'alice'.")

    answer(made(written, gone), message("ping", 1))
    assert (written[0]["id"], written[0]["error"]["code"]) == (1, 401)


def test_what_nobody_expected_is_an_error_that_tells_nothing(written, caplog):
    def broken():
        raise RuntimeError("password=1234")

    answer(made(written, broken), message("ping", 1))
    error = written[0]["error"]
    logged_under = error["data"]["request_id"]
    assert (written[0]["id"], error["code"]) == (1, -32603)
    assert error["message"] == (
        f"An unexpected error occurred. It was logged under the id {logged_under}."
    )
    assert f"[{logged_under}]" in caplog.text
    assert "password=1234" in caplog.text


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_a_line_that_cannot_be_read_is_answered_in_the_revision_spoken(
    connection, written, version
):
    answer(connection, b"{")
    answer(connection, message("initialize", 0, protocolVersion=version))
    answer(connection, b"{")
    assert written[0]["id"] is None
    assert ("id" in written[2]) == (version == "2025-06-18")


def test_a_line_that_cannot_be_read_after_a_stateless_message_has_no_id(connection, written):
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    answer(connection, message("server/discover", 0, _meta=meta))
    answer(connection, b"{")
    assert "id" not in written[1]


def test_each_request_of_a_refused_batch_is_refused(written):
    connection = made(written, LocalEndpoint().make_caller)
    answer(connection, message("initialize", 0, protocolVersion="2025-03-26"))
    batch = [json.loads(message("ping", n)) for n in (1, 2)]
    batch.append(json.loads(message("notifications/initialized")))
    answer(connection, json.dumps(batch).encode())
    assert [(error["id"], error["error"]["code"]) for error in written[1]] == [(1, 401), (2, 401)]


def test_each_line_is_a_request_to_django(connection):
    """Connections that are too old are closed, and caches let go, as between HTTP requests."""
    seen = []

    def started(**kwargs) -> None:
        seen.append("started")

    def finished(**kwargs) -> None:
        seen.append("finished")

    request_started.connect(started)
    request_finished.connect(finished)
    try:
        answer(connection, message("ping", 1))
    finally:
        request_started.disconnect(started)
        request_finished.disconnect(finished)
    assert seen == ["started", "finished"]


@given(st.binary(max_size=200))
def test_any_line_is_answered_or_ignored(line):
    written = []
    connection = made(written, lambda: LocalEndpoint().make_caller(User(pk=1, username="x")))
    work = connection.receive(line.replace(b"\n", b""))
    if work is not None:
        connection.answer(work)
    assert len(written) <= 1


def test_lines_up_to_the_limit_are_read_and_longer_ones_refused(settings):
    settings.DRF_MCP = {"MAX_BODY_BYTES": 5}
    stream = io.BytesIO(b"12345\n123456\n" + b"x" * 50 + b"\n123\n12345")
    read = list(StdioServer(None, 1).read_lines(stream))
    assert [line if isinstance(line, bytes) else "refused" for line in read] == [
        b"12345\n",
        "refused",
        "refused",
        b"123\n",
        b"12345",
    ]


class Stopping(io.BytesIO):
    """A stream during which the process is told to end."""

    def readline(self, size=-1) -> bytes:
        line = super().readline(size)
        if not line:
            raise Stopped
        return line


def test_what_waits_is_given_up_when_the_process_is_told_to_end():
    class Slow:
        """Remembers what was answered; the first answer takes until the others are given up."""

        def __init__(self) -> None:
            self.given_up = threading.Event()
            self.answered = []

        def receive(self, line: bytes) -> Work:
            return Work(line, None)

        def cancel_waiting(self) -> None:
            self.given_up.set()

        def answer(self, work: Work) -> None:
            self.given_up.wait(10)
            self.answered.append(work.decoded)

    slow = Slow()
    StdioServer(slow, threads=1).serve(Stopping(b"1\n2\n"))
    assert slow.given_up.is_set()
    assert slow.answered == [b"1\n", b"2\n"]


def test_notifications_of_progress_are_lines_before_the_answer(connection, written, monkeypatch):
    def answer_with_progress(item, headers, caller):
        caller.channel.send("notifications/progress", {"progressToken": 1, "progress": 2})
        return Reply(200, b'{"answer": true}')

    monkeypatch.setattr(connection.server, "handle_message", answer_with_progress)
    answer(connection, message("tools/call", 1))
    assert [line.get("method") for line in written] == ["notifications/progress", None]


def test_a_call_that_is_given_up_is_told(connection, written, monkeypatch):
    told = []

    def cancel_meanwhile(item, headers, caller):
        connection.receive(message("notifications/cancelled", requestId=1))
        caller.channel.send("notifications/progress", {"progressToken": 1, "progress": 2})
        told.append(caller.channel.is_cancelled)
        return Reply(200, b"{}")

    monkeypatch.setattr(connection.server, "handle_message", cancel_meanwhile)
    answer(connection, message("tools/call", 1))
    assert (told, written) == ([True], [])
