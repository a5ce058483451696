"""A stdio connection: the lines that are read, and the responses and their order."""

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

from drf_mcp.exposure import registry
from drf_mcp.server import Reply, Server
from drf_mcp.transports.in_process import LocalEndpoint
from drf_mcp.transports.stdio import StdioConnection, StdioServer, Stopped, Work

pytestmark = pytest.mark.django_db


@pytest.fixture
def written() -> list[dict]:
    return []


@pytest.fixture
def connection(written) -> StdioConnection:
    alice = User.objects.get(username="alice")
    return make_connection(written, lambda: LocalEndpoint().make_caller(alice))


def make_connection(written: list, caller) -> StdioConnection:
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
def test_a_request_with_another_id_and_initialize_cannot_be_cancelled(connection, written, line):
    work = connection.receive(line)
    connection.receive(message("notifications/cancelled", requestId=1))
    connection.answer(work)
    assert "result" in written[0]


@pytest.mark.parametrize("number", [1, 1.0])
def test_a_request_that_is_cancelled_before_its_turn_is_not_processed(connection, written, number):
    work = connection.receive(message("tools/call", 1, name="stats", arguments={}))
    for unknown in (7, "x", None, [1], {}):
        connection.receive(message("notifications/cancelled", requestId=unknown))
    connection.receive(message("notifications/cancelled", requestId=number))
    connection.server = None  # A call of the server would fail.
    connection.answer(work)
    assert written == []


def test_a_request_with_the_id_of_an_earlier_one_can_be_cancelled(connection, written):
    answer(connection, message("ping", 1))
    work = connection.receive(message("ping", 1))
    connection.receive(message("notifications/cancelled", requestId=1))
    connection.answer(work)
    assert len(written) == 1


def test_a_user_who_no_longer_exists_is_refused(written):
    def get_caller():
        raise AuthenticationFailed("There is no user 'alice'.")

    answer(make_connection(written, get_caller), message("ping", 1))
    assert (written[0]["id"], written[0]["error"]["code"]) == (1, 401)


def test_an_unexpected_exception_is_an_error_without_its_message(written, caplog):
    def get_caller():
        raise RuntimeError("password=1234")

    answer(make_connection(written, get_caller), message("ping", 1))
    error = written[0]["error"]
    request_id = error["data"]["request_id"]
    assert (written[0]["id"], error["code"]) == (1, -32603)
    assert error["message"] == (
        f"An unexpected error occurred. It was logged under the id {request_id}."
    )
    assert f"[{request_id}]" in caplog.text
    assert "password=1234" in caplog.text


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_an_error_about_an_invalid_line_has_the_members_of_the_revision(
    connection, written, version
):
    answer(connection, b"{")
    answer(connection, message("initialize", 0, protocolVersion=version))
    answer(connection, b"{")
    assert written[0]["id"] is None
    assert ("id" in written[2]) == (version == "2025-06-18")


def test_an_error_about_an_invalid_line_after_a_stateless_message_has_no_id(connection, written):
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    answer(connection, message("server/discover", 0, _meta=meta))
    answer(connection, b"{")
    assert "id" not in written[1]


def test_each_line_is_a_request_to_django(connection):
    """Django then closes old connections and clears caches."""
    seen = []

    def receive_started(**kwargs) -> None:
        seen.append("started")

    def receive_finished(**kwargs) -> None:
        seen.append("finished")

    request_started.connect(receive_started)
    request_finished.connect(receive_finished)
    try:
        answer(connection, message("ping", 1))
    finally:
        request_started.disconnect(receive_started)
        request_finished.disconnect(receive_finished)
    assert seen == ["started", "finished"]


@given(st.binary(max_size=200))
def test_any_line_has_at_most_one_response(line):
    written = []
    connection = make_connection(
        written, lambda: LocalEndpoint().make_caller(User(pk=1, username="x"))
    )
    work = connection.receive(line.replace(b"\n", b""))
    if work is not None:
        connection.answer(work)
    assert len(written) <= 1


def test_lines_longer_than_the_limit_are_refused(settings):
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


class StoppingStream(io.BytesIO):
    """A stream whose end stops the process."""

    def readline(self, size=-1) -> bytes:
        line = super().readline(size)
        if not line:
            raise Stopped
        return line


def test_waiting_requests_are_cancelled_when_the_process_stops():
    class SlowConnection:
        """Record the answered lines. The first waits until the others are cancelled."""

        def __init__(self) -> None:
            self.cancelled = threading.Event()
            self.answered = []

        def receive(self, line: bytes) -> Work:
            return Work(line, None)

        def cancel_waiting(self) -> None:
            self.cancelled.set()

        def answer(self, work: Work) -> None:
            self.cancelled.wait(10)
            self.answered.append(work.decoded)

    connection = SlowConnection()
    StdioServer(connection, threads=1).serve(StoppingStream(b"1\n2\n"))
    assert connection.cancelled.is_set()
    assert connection.answered == [b"1\n", b"2\n"]


def test_progress_notifications_are_lines_before_the_response(connection, written, monkeypatch):
    def answer_with_progress(item, headers, caller):
        caller.channel.send("notifications/progress", {"progressToken": 1, "progress": 2})
        return Reply(200, b'{"answer": true}')

    monkeypatch.setattr(connection.server, "handle_message", answer_with_progress)
    answer(connection, message("tools/call", 1))
    assert [line.get("method") for line in written] == ["notifications/progress", None]


def test_a_cancelled_call_is_marked_in_its_channel_and_writes_nothing(
    connection, written, monkeypatch
):
    cancelled = []

    def cancel_during_call(item, headers, caller):
        connection.receive(message("notifications/cancelled", requestId=1))
        caller.channel.send("notifications/progress", {"progressToken": 1, "progress": 2})
        cancelled.append(caller.channel.is_cancelled)
        return Reply(200, b"{}")

    monkeypatch.setattr(connection.server, "handle_message", cancel_during_call)
    answer(connection, message("tools/call", 1))
    assert (cancelled, written) == ([True], [])
