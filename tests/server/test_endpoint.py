"""The HTTP endpoint: methods, paths, content types, sizes, credentials and the server around it."""

from __future__ import annotations

import io
import json

import pytest
from django.contrib.auth.models import User
from django.core.handlers.base import BaseHandler
from django.db import connections
from django.test import Client, RequestFactory
from django.urls import path
from rest_framework.authentication import (
    BaseAuthentication,
    BasicAuthentication,
    SessionAuthentication,
    TokenAuthentication,
)
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.views import MCPView
from tests.agents import REVISIONS, Agent
from tests.server.views import Word

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
PONG = {"jsonrpc": "2.0", "id": 1, "result": {}}


class Silent(BaseAuthentication):
    def authenticate(self, request) -> None:
        return None


@pytest.fixture
def agent(expose) -> Agent:
    expose(path("word/", Word.as_view()))
    return Agent(Client())


def test_only_posts_are_answered(subtests, agent):
    for method in ["get", "delete", "put", "patch", "options", "head"]:
        with subtests.test(method=method):
            response = getattr(agent.http, method)("/mcp")
            assert (response.status_code, response.headers["Allow"]) == (405, "POST")


def test_the_path_with_and_without_a_slash_answers_without_a_redirect(subtests, agent, settings):
    for url in ["/mcp", "/mcp/"]:
        for append_slash in [True, False]:
            with subtests.test(url=url, append_slash=append_slash):
                settings.APPEND_SLASH = append_slash
                agent.path = url
                response = agent.post(PING)
                assert (response.status_code, json.loads(response.content)) == (200, PONG)


# --- Content type -------------------------------------------------------------------------


def test_json_is_read_with_any_parameters_of_the_content_type(subtests, agent):
    for content_type in [
        "application/json",
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
        "Application/JSON",
        " application/json ",
    ]:
        with subtests.test(content_type=content_type):
            response = agent.http.post("/mcp", json.dumps(PING).encode(), content_type=content_type)
            assert json.loads(response.content) == PONG


def test_any_other_content_type_is_refused_with_a_json_rpc_error(subtests, agent):
    for content_type in [
        "text/plain",
        "text/plain; charset=utf-8",
        "text/plain;application/json",
        "text/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=application/json",
        "application/json-seq",
        "application/json, text/plain",
        "application/*",
        "",
    ]:
        with subtests.test(content_type=content_type):
            response = agent.http.post("/mcp", json.dumps(PING).encode(), content_type=content_type)
            assert (response.status_code, response["Content-Type"]) == (415, "application/json")
            assert json.loads(response.content)["error"] == {
                "code": 415,
                "message": "The Content-Type of a message must be application/json.",
            }


class Cookie(BaseAuthentication):
    """Authenticate the user that a cookie names, without a CSRF token."""

    def authenticate(self, request):
        name = request.COOKIES.get("who")
        return (User.objects.get(username=name), None) if name else None


@pytest.mark.django_db
@pytest.mark.parametrize(
    "headers", [{}, {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}]
)
def test_a_form_of_another_site_cannot_call_a_tool(expose, settings, headers):
    """A page of another site can send this request with cookies and without a preflight."""
    called = []

    class Refund(APIView):
        """Refund an order."""

        def post(self, request) -> Response:
            called.append(request.user.username)
            return Response({})

    Refund.authentication_classes = [Cookie]
    settings.ALLOWED_HOSTS = ["*"]
    expose(
        path("refund/", Refund.as_view()),
        AUTHENTICATION_CLASSES=[Cookie],
        PERMISSION_CLASSES=["rest_framework.permissions.IsAuthenticated"],
    )
    agent = Agent(Client(), revision="2025-11-25")
    agent.http.cookies["who"] = "alice"
    message, _ = agent.frame("tools/call", {"name": "refund"})
    response = agent.http.post(
        "/mcp", json.dumps(message), content_type="text/plain", headers=headers
    )
    assert (response.status_code, called) == (415, [])
    agent.call("refund")
    assert called == ["alice"]


def test_a_post_needs_no_csrf_token(expose):
    expose()
    assert Agent(Client(enforce_csrf_checks=True)).post(PING).status_code == 200


# --- Size ---------------------------------------------------------------------------------


def padded(size: int) -> bytes:
    body = json.dumps(PING).encode()
    return body + b" " * (size - len(body))


def posted(body: bytes, **environ):
    request = RequestFactory().post("/mcp", body, content_type="application/json")
    request.META.update(environ)
    return MCPView.as_view()(request)


# The Content-Length header may be too small or missing.
def test_a_body_over_max_body_bytes_is_refused(subtests, expose):
    for environ in [{}, {"CONTENT_LENGTH": "10"}, {"CONTENT_LENGTH": ""}]:
        with subtests.test(environ=environ):
            expose(MAX_BODY_BYTES=200)
            if environ.get("CONTENT_LENGTH") != "10":
                assert posted(padded(200), **environ).status_code == 200
            response = posted(padded(201), **environ)
            assert response.status_code == 413
            answer = json.loads(response.content)
            assert answer["id"] is None
            assert answer["error"]["message"] == "The request body is larger than 200 bytes."


def test_a_content_length_that_claims_too_much_is_a_413_before_the_body_is_read(expose):
    expose(MAX_BODY_BYTES=200)
    request = RequestFactory().post("/mcp", b"{}", content_type="application/json")
    request.META["CONTENT_LENGTH"] = "201"
    assert MCPView.as_view()(request).status_code == 413
    assert not hasattr(request, "_body")


class Interrupted(io.BytesIO):
    """A connection that ends before the body does."""

    def read(self, *args: int) -> bytes:
        raise OSError("connection reset")


def test_a_body_that_ends_too_early_gets_400(expose):
    expose()
    request = RequestFactory().post("/mcp", b"{}", content_type="application/json")
    request._stream = Interrupted()
    assert MCPView.as_view()(request).status_code == 400


# --- Credentials --------------------------------------------------------------------------


def test_a_request_without_credentials_gets_401_and_a_challenge(client):
    response = Agent(client).post(PING)
    assert (response.status_code, response.headers["WWW-Authenticate"]) == (401, "Token")
    answer = json.loads(response.content)
    assert (answer["id"], answer["error"]["code"]) == (1, 401)
    assert answer["error"]["message"] == "Authentication credentials were not provided."


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (json.dumps(PING).encode(), 401),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": 1, "a": 2}}', 400),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": NaN}}', 400),
        (json.dumps(PING).encode(), 415),
    ],
)
def test_a_refusal_has_the_id_of_the_request_if_the_id_can_be_read(
    client, expose, revision, body, status
):
    if status != 401:
        expose()
    kind = "text/plain" if status == 415 else "application/json"
    headers = {"MCP-Protocol-Version": revision}
    response = client.post("/mcp", body, content_type=kind, headers=headers)
    assert (response.status_code, response.json()["id"]) == (status, 1)


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"id": 1, "id": 2}',
        b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]',
        b'{"jsonrpc": "2.0", "id": 1, "result": {}}',
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
    ],
)
def test_a_refusal_of_a_message_without_a_readable_id_has_a_null_id_or_none(client, revision, body):
    headers = {"MCP-Protocol-Version": revision}
    answer = client.post("/mcp", body, content_type="application/json", headers=headers).json()
    assert answer["error"]["code"] == 401
    # Since 2025-11-25 the member is left out.
    assert answer.get("id", "none") == (None if revision < "2025-11-25" else "none")


@pytest.mark.parametrize(
    ("classes", "sent", "advice"),
    [
        ([TokenAuthentication], "Bearer abc", "begin with Token, not with Bearer."),
        (
            [SessionAuthentication, TokenAuthentication, BasicAuthentication],
            "Bearer abc",
            "begin with Token or Basic, not with Bearer.",
        ),
        ([BasicAuthentication], "token abc", "begin with Basic, not with token."),
        ([SessionAuthentication], "Bearer abc", ""),
        ([TokenAuthentication], "", ""),
        ([TokenAuthentication], "<b>!</b> abc", ""),
    ],
)
def test_a_refusal_of_another_scheme_names_the_schemes_that_are_accepted(
    settings, client, classes, sent, advice
):
    endpoint = path("mcp", MCPView.as_view(authentication_classes=classes))
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": [endpoint]})
    client.defaults["HTTP_AUTHORIZATION"] = sent
    response = Agent(client).post(PING)
    assert response.status_code == 401
    begin = "Authentication credentials were not provided."
    end = f" The Authorization header has to {advice}" if advice else ""
    assert response.json()["error"]["message"] == begin + end
    if advice:
        assert response.headers["WWW-Authenticate"].split()[0] in advice


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"jsonrpc": "2.0", "id": 1, "method": "none"}'])
def test_a_message_without_credentials_is_not_validated(client, body):
    assert Agent(client).post(body).status_code == 401


@pytest.mark.parametrize("authentication", [[SessionAuthentication], [Silent]])
def test_a_401_has_a_challenge_although_no_class_has_one(settings, client, authentication):
    settings.DRF_MCP = {"AUTHENTICATION_CLASSES": authentication}
    response = Agent(client).post(PING)
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="mcp"'


@pytest.mark.parametrize(
    "classes",
    [
        {"authentication_classes": [Silent], "permission_classes": []},
        {"permission_classes": []},
        {"permission_classes": ()},
    ],
)
def test_an_endpoint_may_have_its_own_classes_or_none(settings, client, classes):
    endpoint = path("mcp", MCPView.as_view(**classes))
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": [endpoint]})
    assert Agent(client).post(PING).status_code == 200


def test_login_required_middleware_does_not_redirect(agent, settings):
    settings.MIDDLEWARE = [
        *settings.MIDDLEWARE,
        "django.contrib.auth.middleware.LoginRequiredMiddleware",
    ]
    assert agent.post(PING).status_code == 200


# --- The server around the endpoint -------------------------------------------------------


def test_atomic_requests_applies_to_views_and_not_to_the_endpoint(monkeypatch):
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)
    endpoint, word = MCPView.as_view(), Word.as_view()
    atomic = BaseHandler().make_view_atomic
    assert atomic(endpoint) is endpoint
    assert atomic(word) is not word
