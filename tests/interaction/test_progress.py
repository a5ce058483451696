"""A running view reports its progress: under ASGI, and on the threads of WSGI servers."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import Group
from django.core.handlers.wsgi import WSGIHandler
from django.core.management import call_command
from django.test import Client, RequestFactory
from django.urls import include, path
from django.utils import timezone, translation
from rest_framework.response import Response
from rest_framework.test import APIClient
from rest_framework.views import APIView

from drf_mcp import call_context, mcp_tool, registry
from drf_mcp.interaction.exchange import Channel, Progress
from tests.asgi import begin, communicate, frame, read_events, receive_all

GATE = threading.Event()
SEEN: list[str] = []


@mcp_tool()
class ExportView(APIView):
    permission_classes: list[type] = []

    def post(self, request):
        context = call_context(request)
        for step in (1, 2):
            context.progress(step, 2, f"Step {step}")
            SEEN.append(f"step {step}")
            if not GATE.wait(5):
                raise AssertionError("nobody opened the gate")
        SEEN.append("cancelled" if context.cancelled else "done")
        return Response({"rows": 2})


@mcp_tool()
class QuietView(APIView):
    permission_classes: list[type] = []

    def post(self, request):
        return Response({"quiet": True})


@mcp_tool()
class FailingView(APIView):
    permission_classes: list[type] = []

    def post(self, request):
        call_context(request).progress(1)
        raise RuntimeError("no")


@mcp_tool()
class SilentView(APIView):
    permission_classes: list[type] = []

    def post(self, request):
        GATE.wait(5)
        SEEN.append("cancelled" if call_context(request).cancelled else "done")
        return Response({})


@mcp_tool()
class LanguageView(APIView):
    permission_classes: list[type] = []

    def post(self, request):
        call_context(request).progress(1)
        zone = timezone.get_current_timezone_name()
        return Response({"language": translation.get_language(), "time_zone": zone})


@mcp_tool()
class GroupingView(APIView):
    permission_classes: list[type] = []

    def post(self, request):
        call_context(request).progress(1)
        Group.objects.create(name="made on a thread")
        return Response({})


@mcp_tool()
class SlowAsyncView(APIView):
    """REST framework has no asynchronous views, so this class makes its callback a coroutine."""

    permission_classes: list[type] = []

    @classmethod
    def as_view(cls, **initkwargs):
        view = super().as_view(**initkwargs)

        async def asynchronous(request, *args, **kwargs):
            call_context(request).progress(1)
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                SEEN.append("async view cancelled")
                raise
            return view(request, *args, **kwargs)

        vars(asynchronous).update(vars(view))
        return asynchronous

    def post(self, request):
        return Response({})


@pytest.fixture(autouse=True)
def served(settings):
    settings.ROOT_URLCONF = type(
        "URLConf",
        (),
        {
            "urlpatterns": [
                path("", include("drf_mcp.urls")),
                path("export/", ExportView.as_view()),
                path("quiet/", QuietView.as_view()),
                path("failing/", FailingView.as_view()),
                path("slow/", SlowAsyncView.as_view()),
                path("silent/", SilentView.as_view()),
                path("language/", LanguageView.as_view()),
                path("grouping/", GroupingView.as_view()),
            ]
        },
    )
    settings.DRF_MCP = {
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
        "AUTHENTICATION_CLASSES": [],
        "ARCHIVE_CLASS": None,
    }
    settings.ALLOWED_HOSTS = ["testserver"]
    registry.reload()
    SEEN.clear()
    GATE.set()


# --- WSGI ---------------------------------------------------------------------------------


def post(name: str, **options: Any) -> Any:
    body, headers = frame("tools/call", name=name, arguments={}, **options)
    return Client().post("/mcp", body, content_type="application/json", headers=headers)


def test_the_notifications_come_before_the_answer():
    response = post("export")
    assert response.headers["Content-Type"] == "text/event-stream"
    assert response.headers["Cache-Control"] == "no-store"
    first, second, answer = read_events(response.getvalue())
    params = {"progressToken": "p1", "progress": 1, "total": 2, "message": "Step 1"}
    assert first == {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
    assert second["params"]["progress"] == 2
    assert answer["result"]["structuredContent"]["data"] == {"rows": 2}


def test_without_a_token_or_a_stream_the_answer_is_json(subtests):
    for options in [{"token": None}, {"accept": "application/json"}]:
        with subtests.test(options=options):
            response = post("export", **options)
            assert response.headers["Content-Type"] == "application/json"
            assert response.json()["result"]["structuredContent"]["data"] == {"rows": 2}


def test_an_invalid_progress_token_is_ignored(subtests):
    for token in [True, 1.5, ["a"], {}]:
        with subtests.test(token=token):
            assert post("export", token=token).headers["Content-Type"] == "application/json"


def test_over_http_progress_is_ignored():
    assert APIClient().post("/export/").json() == {"rows": 2}


class WSGIConnection:
    """One request to the project, as from a WSGI server.

    Args:
        name: the tool that is called.
    """

    def __init__(self, name: str) -> None:
        body, headers = frame("tools/call", name=name, arguments={})
        request = RequestFactory().post("/mcp", body, "application/json", headers=headers)
        self.status = ""
        self.headers: dict[str, str] = {}
        self.response = WSGIHandler()(request.environ, self.start)
        self.parts = iter(self.response)

    def start(self, status: str, headers: list[tuple[str, str]]) -> None:
        self.status, self.headers = status, dict(headers)

    def close(self) -> None:
        # Servers close the response when they cannot write (PEP 3333).
        opening = threading.Timer(0.1, GATE.set)
        opening.start()
        self.response.close()
        opening.join()


@pytest.mark.django_db(transaction=True)
def test_a_notification_arrives_while_the_view_runs_on_a_thread():
    GATE.clear()
    connection = WSGIConnection("export")
    assert connection.headers["Content-Type"] == "text/event-stream"
    first = next(connection.parts)
    assert b"Step 1" in first
    assert "done" not in SEEN
    GATE.set()
    answer = read_events(first + b"".join(connection.parts))[-1]
    assert answer["result"]["structuredContent"]["data"] == {"rows": 2}


@pytest.mark.django_db(transaction=True)
def test_a_long_call_without_progress_sends_comments(monkeypatch):
    """They reveal a closed connection before the first notification."""
    monkeypatch.setattr("drf_mcp.transports.http.KEEP_ALIVE_SECONDS", 0.01)
    GATE.clear()
    connection = WSGIConnection("silent")
    assert next(connection.parts) == b":\n\n"
    connection.close()
    assert SEEN == ["cancelled"]


@pytest.mark.django_db(transaction=True)
def test_a_closed_connection_of_a_thread_is_noticed():
    GATE.clear()
    connection = WSGIConnection("export")
    next(connection.parts)
    connection.close()
    assert SEEN[-1] == "cancelled"


@pytest.mark.django_db(transaction=True)
def test_a_closed_connection_of_a_thread_cancels_an_async_view():
    connection = WSGIConnection("slow")
    next(connection.parts)
    connection.close()
    assert SEEN == ["async view cancelled"]


@pytest.mark.django_db
def test_a_call_within_a_transaction_runs_in_it():
    """As in a project's tests: the writes of the call are rolled back with the test."""
    response = post("grouping")
    assert not response.streaming
    assert Group.objects.filter(name="made on a thread").exists()


# --- ASGI ---------------------------------------------------------------------------------


def communicate_call(name: str, **options: Any) -> ApplicationCommunicator:
    return communicate(*frame("tools/call", name=name, arguments={}, **options))


def test_a_notification_arrives_while_the_view_runs():
    GATE.clear()

    async def talk() -> tuple[bytes, list[str], bytes]:
        connection = communicate_call("export")
        start = await begin(connection)
        assert (b"Content-Type", b"text/event-stream") in start["headers"]
        first = await connection.receive_output(5)
        seen = list(SEEN)
        GATE.set()
        return first["body"], seen, first["body"] + await receive_all(connection)

    first, seen, content = asyncio.run(talk())
    assert b"Step 1" in first
    assert "done" not in seen
    assert read_events(content)[-1]["result"]["structuredContent"]["data"] == {"rows": 2}


def test_a_failure_after_a_notification_is_an_event():
    async def talk() -> bytes:
        connection = communicate_call("failing")
        await begin(connection)
        return await receive_all(connection)

    answer = read_events(asyncio.run(talk()))[-1]
    assert answer["result"]["structuredContent"]["data"]["error_code"] == "INTERNAL_ERROR"


def test_comments_keep_the_stream_alive(monkeypatch):
    monkeypatch.setattr("drf_mcp.transports.http.KEEP_ALIVE_SECONDS", 0.01)
    GATE.clear()

    async def talk() -> bytes:
        connection = communicate_call("export")
        await begin(connection)
        parts = [(await connection.receive_output(5))["body"] for _ in range(2)]
        GATE.set()
        await receive_all(connection)
        return parts[1]

    assert asyncio.run(talk()) == b":\n\n"


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until, SEEN
        time.sleep(0.01)


def test_a_closed_connection_is_noticed():
    GATE.clear()

    async def talk() -> None:
        connection = communicate_call("export")
        await begin(connection)
        await connection.receive_output(5)
        await connection.send_input({"type": "http.disconnect"})
        await connection.wait(5)

    asyncio.run(talk())
    GATE.set()
    wait_for(lambda: "cancelled" in SEEN)


def test_a_closed_connection_cancels_an_async_view():
    async def talk() -> None:
        connection = communicate_call("slow")
        await begin(connection)
        await connection.receive_output(5)
        await connection.send_input({"type": "http.disconnect"})
        await connection.wait(5)

    asyncio.run(talk())
    wait_for(lambda: "async view cancelled" in SEEN)


# --- What is sent -------------------------------------------------------------------------


def make_progress() -> tuple[Progress, list[Any]]:
    sent: list[Any] = []
    channel = Channel(lambda method, params: sent.append(params["progress"]))
    return Progress("t", channel), sent


def test_progress_only_grows():
    progress, sent = make_progress()
    for value in (2, 1, 2):
        progress.report(value, None, "")
    assert sent == [2]


def test_mcp_call_shows_progress_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    call_command("mcp_call", "export")
    shown = capsys.readouterr().err
    assert shown == "1 of 2 Step 1\n2 of 2 Step 2\n"
