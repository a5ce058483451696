"""An unexpected exception becomes a JSON-RPC error with the request id that is logged."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import Group, User
from django.db import OperationalError, connection
from django.test import AsyncClient, Client
from django.urls import path
from rest_framework.authentication import BaseAuthentication
from rest_framework.authtoken.models import Token
from rest_framework.permissions import BasePermission
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.transports.in_process import InProcessClient
from tests.agents import REVISIONS, STATELESS, Agent
from tests.server.views import Word

ENVELOPES = ["ResponseV2Envelope", "OkEnvelope", "StatusEnvelope", "PlainEnvelope"]
SECRET = "password=1234"
pytestmark = pytest.mark.django_db


class Breaking(BaseAuthentication):
    def authenticate(self, request):
        raise RuntimeError(SECRET)


class BreakingChallenge(BaseAuthentication):
    def authenticate(self, request):
        return None

    def authenticate_header(self, request):
        raise RuntimeError(SECRET)


class BreakingPermission(BasePermission):
    def has_permission(self, request, view):
        raise RuntimeError(SECRET)


@pytest.fixture
def client() -> Client:
    """A client that does not raise exceptions of the server."""
    return Client(raise_request_exception=False)


def check_internal_error(response, caplog, *, secret: str = SECRET) -> dict:
    assert (response.status_code, response["Content-Type"]) == (500, "application/json")
    answer = json.loads(response.content)
    request_id = answer["error"]["data"]["request_id"]
    assert answer["error"] == {
        "code": -32603,
        "message": f"An unexpected error occurred. It was logged under the id {request_id}.",
        "data": {"request_id": request_id},
    }
    (record,) = [record for record in caplog.records if record.name == "drf_mcp"]
    assert f"[{request_id}]" in record.getMessage()
    assert secret in caplog.text
    assert secret not in response.content.decode()
    return answer


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("method", ["tools/list", "tools/call", "server/discover", "ping"])
@pytest.mark.parametrize(
    "classes",
    [{"AUTHENTICATION_CLASSES": [Breaking]}, {"PERMISSION_CLASSES": [BreakingPermission]}],
    ids=["authenticator", "permission"],
)
def test_a_class_of_the_endpoint_that_breaks_is_an_internal_error(
    expose, settings, client, reported, caplog, classes, method, debug
):
    settings.DEBUG = debug
    expose(path("word/", Word.as_view()), **classes)
    agent = Agent(client, revision="2025-11-25" if method == "ping" else STATELESS)
    message, headers = agent.frame(method, {"name": "word"})
    answer = check_internal_error(agent.post(message, headers), caplog)
    assert answer["id"] == message["id"]
    assert len(reported) == 1


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_challenge_that_breaks_is_an_internal_error(expose, client, reported, caplog, revision):
    expose(
        AUTHENTICATION_CLASSES=[BreakingChallenge],
        PERMISSION_CLASSES=["rest_framework.permissions.IsAuthenticated"],
    )
    agent = Agent(client, revision=revision)
    message, headers = agent.frame("tools/list", {})
    answer = check_internal_error(agent.post(message, headers), caplog)
    assert answer["id"] == message["id"]
    assert len(reported) == 1


BROKEN_SETTINGS = {
    "unknown": ({"NO_SUCH_SETTING": 1}, "NO_SUCH_SETTING"),
    "not importable": ({"AUTHENTICATION_CLASSES": ["nope.Nope"]}, "nope.Nope"),
    "envelope": ({"ENVELOPE_CLASS": "nope.Nope", "PERMISSION_CLASSES": []}, "nope.Nope"),
}


@pytest.mark.parametrize(("wrong", "logged"), BROKEN_SETTINGS.values(), ids=BROKEN_SETTINGS)
def test_an_invalid_setting_is_an_internal_error(
    expose, settings, client, reported, caplog, wrong, logged
):
    expose(path("word/", Word.as_view()))
    agent = Agent(client)
    message, headers = agent.frame("tools/call", {"name": "word"})
    settings.DRF_MCP = {"EXPOSE": "urlconf", **wrong}
    check_internal_error(agent.post(message, headers), caplog, secret=logged)
    assert len(reported) == 1


def test_a_browsable_page_that_breaks_is_an_internal_error(expose, client, reported, caplog):
    expose(AUTHENTICATION_CLASSES=[Breaking], BROWSABLE_PAGE=True)
    check_internal_error(client.get("/mcp", headers={"accept": "text/html"}), caplog)
    assert len(reported) == 1


def test_a_notification_that_breaks_gets_a_status_and_no_body(expose, client, reported):
    expose(AUTHENTICATION_CLASSES=[Breaking])
    response = Agent(client).post({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (response.status_code, response.content) == (500, b"")
    assert len(reported) == 1


def test_other_transports_answer_with_the_same_error(expose):
    expose(AUTHENTICATION_CLASSES=[Breaking])
    assert InProcessClient().send("tools/list", {})["error"]["code"] == -32603
    client = AsyncClient(raise_request_exception=False)
    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    response = async_to_sync(client.post)("/mcp", ping, content_type="application/json")
    assert json.loads(response.content)["error"]["code"] == -32603


# --- A database that stops ----------------------------------------------------------------


@contextmanager
def stop_database_after(statement: str | None):
    stopped = statement is None

    def execute(execute, sql, params, many, context):
        nonlocal stopped
        if stopped:
            raise OperationalError("server closed the connection unexpectedly")
        try:
            return execute(sql, params, many, context)
        finally:
            stopped = statement in sql

    with connection.execute_wrapper(execute):
        yield


class Groups(APIView):
    """Create and count groups."""

    def get(self, request) -> Response:
        """Count the groups."""
        return Response({"count": Group.objects.count()})

    def post(self, request) -> Response:
        """Create a group."""
        return Response({"pk": Group.objects.create(name="Made").pk}, status=201)


def calls(*names: str) -> list[dict]:
    messages = [
        {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": name}}
        for n, name in enumerate(names, 1)
    ]
    return [*messages, {"jsonrpc": "2.0", "id": "last", "method": "ping"}]


@pytest.mark.parametrize("method", ["tools/list", "tools/call", "server/discover"])
def test_a_database_that_is_down_during_authentication_is_an_internal_error(
    expose, client, reported, caplog, method
):
    expose(
        path("word/", Word.as_view()),
        PERMISSION_CLASSES=["rest_framework.permissions.IsAuthenticated"],
    )
    token = Token.objects.get(user__username="alice")
    agent = Agent(client)
    message, headers = agent.frame(method, {"name": "word"})
    with stop_database_after(None):
        response = agent.post(message, {**headers, "Authorization": f"Token {token.key}"})
    check_internal_error(response, caplog, secret="server closed the connection")
    assert len(reported) == 1


# --- Data that is read while the response is rendered -------------------------------------


def failing_rows():
    return User.objects.extra(where=["no_such_column = 1"]).values("id")


class FailingRows:
    def __iter__(self):
        yield from failing_rows()


class Lazy(APIView):
    """Return data that is read later."""

    permission_classes = []
    answer = staticmethod(failing_rows)

    def get(self, request) -> Response:
        return Response(self.answer())


LAZY = {
    "queryset": failing_rows,
    "rows": lambda: failing_rows().values_list("id", flat=True),
    "member": lambda: {"count": 3, "rows": failing_rows()},
    "deep": lambda: [{"rows": [{"inner": failing_rows()}]}],
    "iterator": lambda: {"rows": failing_rows().iterator()},
    "generator": lambda: {"rows": (row for row in failing_rows())},
    "iterable": lambda: {"rows": FailingRows()},
}


@pytest.mark.parametrize("envelope", ENVELOPES)
@pytest.mark.parametrize("answer", LAZY.values(), ids=LAZY)
def test_lazy_data_that_fails_is_an_error_and_is_read_once(
    expose, client, reported, caplog, answer, envelope
):
    expose(
        path("lazy/", Lazy.as_view(answer=answer)),
        ENVELOPE_CLASS=f"drf_mcp.envelopes.{envelope}",
        AUTHENTICATION_CLASSES=[],
    )
    statements = []

    def execute(execute, sql, params, many, context):
        statements.append(sql)
        return execute(sql, params, many, context)

    agent = Agent(client)
    message, headers = agent.frame("tools/call", {"name": "lazy"})
    with connection.execute_wrapper(execute):
        response = agent.post(message, headers)
    result = agent.read("tools/call", response)["result"]
    assert (response.status_code, result["isError"]) == (200, True)
    text = result["content"][0]["text"]
    assert "An unexpected error occurred. It was logged under the id req_" in text
    assert "no_such_column" not in text
    assert "no such column" in caplog.text
    assert len(statements) == 1
    assert len(reported) == 1
