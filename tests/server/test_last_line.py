"""Whatever leaves the pipeline is a JSON-RPC error with an id to look up in the log."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import Group, User
from django.core.signals import got_request_exception
from django.db import OperationalError, connection
from django.test import AsyncClient, Client
from django.urls import path
from rest_framework.authentication import BaseAuthentication
from rest_framework.authtoken.models import Token
from rest_framework.permissions import BasePermission
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.transports.in_process import InProcessClient
from drf_mcp.views import MCPView
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
def quiet() -> Client:
    """A client that does not raise what the server has dealt with."""
    return Client(raise_request_exception=False)


def assert_broken(response, caplog, *, secret: str = SECRET) -> dict:
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
    [
        {"AUTHENTICATION_CLASSES": [Breaking]},
        {"PERMISSION_CLASSES": [BreakingPermission]},
    ],
    ids=["authenticator", "permission"],
)
def test_a_class_of_the_endpoint_that_breaks(
    expose, settings, quiet, reported, caplog, classes, method, debug
):
    settings.DEBUG = debug
    expose(path("word/", Word.as_view()), **classes)
    agent = Agent(quiet, revision="2025-11-25" if method == "ping" else STATELESS)
    message, headers = agent.frame(method, {"name": "word"})
    answer = assert_broken(agent.post(message, headers), caplog)
    assert answer["id"] == message["id"]
    assert len(reported) == 1


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_challenge_that_breaks(expose, quiet, reported, caplog, revision):
    expose(
        AUTHENTICATION_CLASSES=[BreakingChallenge],
        PERMISSION_CLASSES=["rest_framework.permissions.IsAuthenticated"],
    )
    agent = Agent(quiet, revision=revision)
    message, headers = agent.frame("tools/list", {})
    answer = assert_broken(agent.post(message, headers), caplog)
    assert answer["id"] == message["id"]
    assert len(reported) == 1


BROKEN_SETTINGS = {
    "unknown": ({"NO_SUCH_SETTING": 1}, "NO_SUCH_SETTING"),
    "not importable": ({"AUTHENTICATION_CLASSES": ["nope.Nope"]}, "nope.Nope"),
    "envelope": ({"ENVELOPE_CLASS": "nope.Nope", "PERMISSION_CLASSES": []}, "nope.Nope"),
}


@pytest.mark.parametrize(("wrong", "told"), BROKEN_SETTINGS.values(), ids=BROKEN_SETTINGS)
def test_a_broken_setting_at_request_time(expose, settings, quiet, reported, caplog, wrong, told):
    expose(path("word/", Word.as_view()))
    agent = Agent(quiet)
    message, headers = agent.frame("tools/call", {"name": "word"})
    settings.DRF_MCP = {"EXPOSE": "urlconf", **wrong}
    assert_broken(agent.post(message, headers), caplog, secret=told)
    assert len(reported) == 1


def test_a_page_that_breaks(expose, quiet, reported, caplog):
    expose(AUTHENTICATION_CLASSES=[Breaking], BROWSABLE_PAGE=True)
    assert_broken(quiet.get("/mcp", headers={"accept": "text/html"}), caplog)
    assert len(reported) == 1


def test_a_notification_that_breaks_gets_the_status_alone(expose, quiet, reported):
    expose(AUTHENTICATION_CLASSES=[Breaking])
    response = Agent(quiet).post({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (response.status_code, response.content) == (500, b"")
    assert len(reported) == 1


def test_a_receiver_that_breaks_breaks_nothing(expose, quiet, caplog):
    expose(AUTHENTICATION_CLASSES=[Breaking])

    def receive(**kwargs) -> None:
        raise RuntimeError("the tracker is down")

    got_request_exception.connect(receive)
    try:
        response = Agent(quiet).post({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    finally:
        got_request_exception.disconnect(receive)
    assert json.loads(response.content)["error"]["code"] == -32603


def test_the_other_doors_answer_the_same(expose):
    expose(AUTHENTICATION_CLASSES=[Breaking])
    assert InProcessClient().send("tools/list", {})["error"]["code"] == -32603
    client = AsyncClient(raise_request_exception=False)
    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    response = async_to_sync(client.post)("/mcp", ping, content_type="application/json")
    assert json.loads(response.content)["error"]["code"] == -32603


# --- A database that stops ----------------------------------------------------------------


@contextmanager
def stopping_after(statement: str | None):
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
    """Make and count groups."""

    def get(self, request) -> Response:
        """Count the groups."""
        return Response({"count": Group.objects.count()})

    def post(self, request) -> Response:
        """Make a group."""
        return Response({"pk": Group.objects.create(name="Made").pk}, status=201)


def calls(*names: str) -> list[dict]:
    messages = [
        {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": name}}
        for n, name in enumerate(names, 1)
    ]
    return [*messages, {"jsonrpc": "2.0", "id": "last", "method": "ping"}]


def test_a_batch_keeps_its_answers_when_the_database_stops_in_the_middle(expose, quiet, reported):
    expose(
        path("groups/", Groups.as_view()),
        PERMISSION_CLASSES=["rest_framework.permissions.IsAuthenticated"],
    )
    token = Token.objects.get(user__username="carol")
    headers = {
        "MCP-Protocol-Version": "2025-03-26",
        "Authorization": f"Token {token.key}",
    }
    with stopping_after("INSERT"):
        response = Agent(quiet).post(calls("groups_post", "groups_get"), headers)
    made, failed, pong = json.loads(response.content)
    assert response.status_code == 200
    assert Group.objects.filter(name="Made").count() == 1
    assert json.loads(made["result"]["content"][0]["text"])["data"]["pk"]
    told = json.loads(failed["result"]["content"][0]["text"])
    assert (failed["id"], failed["result"]["isError"]) == (2, True)
    assert told["data"]["error_code"] == "INTERNAL_ERROR"
    assert "req_" in told["error"]
    assert "closed" not in failed["result"]["content"][0]["text"]
    assert pong == {"jsonrpc": "2.0", "id": "last", "result": {}}
    assert len(reported) == 1


def test_a_batch_keeps_its_answers_when_one_message_breaks_outside_of_a_view(
    expose, quiet, settings
):
    expose(path("groups/", Groups.as_view()), path("word/", Word.as_view()))
    settings.DRF_MCP = {**settings.DRF_MCP, "OUTPUT_SCHEMA": "nonsense"}
    listing = {"jsonrpc": "2.0", "id": "list", "method": "tools/list"}
    response = Agent(quiet).post(
        [*calls("word")[:1], listing, *calls("word")],
        {"MCP-Protocol-Version": "2025-03-26"},
    )
    first, broken, second, pong = json.loads(response.content)
    assert "result" in first
    assert "result" in second
    assert (broken["id"], broken["error"]["code"]) == ("list", -32603)
    assert pong["result"] == {}


@pytest.mark.parametrize("method", ["tools/list", "tools/call", "server/discover"])
def test_a_database_that_is_down_when_the_caller_is_authenticated(
    expose, quiet, reported, caplog, method
):
    expose(
        path("word/", Word.as_view()),
        PERMISSION_CLASSES=["rest_framework.permissions.IsAuthenticated"],
    )
    token = Token.objects.get(user__username="alice")
    agent = Agent(quiet)
    message, headers = agent.frame(method, {"name": "word"})
    with stopping_after(None):
        response = agent.post(message, {**headers, "Authorization": f"Token {token.key}"})
    assert_broken(response, caplog, secret="server closed the connection")
    assert len(reported) == 1


def test_connections_that_a_call_broke_are_closed_before_the_next_of_a_batch(
    expose, quiet, monkeypatch
):
    """As between requests: the database may be there again."""
    closed = []
    monkeypatch.setattr(connection, "close_if_unusable_or_obsolete", lambda: closed.append(1))
    monkeypatch.setattr(connection, "errors_occurred", False)

    class Broken(APIView):
        """Break the connection."""

        permission_classes = []

        def get(self, request) -> Response:
            connection.errors_occurred = True
            return Response({})

    expose(path("word/", Word.as_view()), path("broken/", Broken.as_view()))
    headers = {"MCP-Protocol-Version": "2025-03-26"}
    Agent(quiet).post(calls("word", "word"), headers)
    assert closed == []
    Agent(quiet).post(calls("word", "broken"), headers)
    assert closed != []


# --- What is read while the answer is written ---------------------------------------------


def failing_rows():
    return User.objects.extra(where=["no_such_column = 1"]).values("id")


class FailingRows:
    def __iter__(self):
        yield from failing_rows()


class Lazy(APIView):
    """Answer with what is read later."""

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
def test_a_lazy_answer_that_fails_is_a_failure_and_is_read_once(
    expose, quiet, reported, caplog, answer, envelope
):
    expose(
        path("lazy/", Lazy.as_view(answer=answer)),
        ENVELOPE_CLASS=f"drf_mcp.envelopes.{envelope}",
        AUTHENTICATION_CLASSES=[],
    )
    tried = []

    def execute(execute, sql, params, many, context):
        tried.append(sql)
        return execute(sql, params, many, context)

    agent = Agent(quiet)
    message, headers = agent.frame("tools/call", {"name": "lazy"})
    with connection.execute_wrapper(execute):
        response = agent.post(message, headers)
    result = agent.read("tools/call", response)["result"]
    assert (response.status_code, result["isError"]) == (200, True)
    text = result["content"][0]["text"]
    assert "An unexpected error occurred. It was logged under the id req_" in text
    assert "no_such_column" not in text
    assert "no such column" in caplog.text
    assert len(tried) == 1
    assert len(reported) == 1


def test_a_bug_while_a_lazy_answer_is_read_is_not_taken_for_a_type_json_lacks(expose, quiet):
    texts = ["1", "one"]
    answer = staticmethod(lambda: {"rows": (int(text) for text in texts)})
    expose(path("lazy/", Lazy.as_view(answer=answer)))
    text = Agent(quiet).call("lazy").envelope["error"]
    assert text.startswith("An unexpected error occurred.")


def test_a_batch_keeps_its_answers_when_one_cannot_be_written(expose, quiet):
    expose(path("lazy/", Lazy.as_view()), path("word/", Word.as_view()))
    response = Agent(quiet).post(
        calls("word", "lazy", "word"), {"MCP-Protocol-Version": "2025-03-26"}
    )
    first, lazy, third, _ = json.loads(response.content)
    assert lazy["result"]["isError"]
    assert "isError" not in first["result"]
    assert "isError" not in third["result"]


def test_the_endpoint_itself_can_be_given_a_class_that_breaks(settings, quiet, caplog):
    endpoint = MCPView.as_view(authentication_classes=[Breaking])
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": [path("mcp", endpoint)]})
    assert_broken(Agent(quiet).post({"jsonrpc": "2.0", "id": 1, "method": "ping"}), caplog)
