"""A view sees the same caller in a tool call as in the HTTP request."""

from __future__ import annotations

import base64

import pytest
from django.contrib.auth.models import User
from django.urls import path
from rest_framework.authentication import (
    BasicAuthentication,
    SessionAuthentication,
    TokenAuthentication,
)
from rest_framework.authtoken.models import Token
from rest_framework.permissions import IsAuthenticated
from rest_framework.test import APIClient

from tests.agents import Agent
from tests.parity.probes import HasReadScope, KeyAuthentication, Probe, identity

EVERYTHING = [KeyAuthentication, BasicAuthentication, TokenAuthentication, SessionAuthentication]


def client_by(scheme: str) -> APIClient:
    if scheme == "token":
        token = Token.objects.get(user__username="alice")
        return APIClient(headers={"authorization": f"Token {token.key}"})
    if scheme == "basic":
        credentials = base64.b64encode(b"alice:alice").decode()
        return APIClient(headers={"authorization": f"Basic {credentials}"})
    if scheme == "key":
        return APIClient(headers={"x-key": "alice read write"})
    client = APIClient()
    if scheme == "session":
        client.force_login(User.objects.get(username="alice"))
    if scheme == "forced":
        client.force_authenticate(User.objects.get(username="alice"), token="a token")
    return client


@pytest.fixture
def keys(monkeypatch) -> list[str]:
    calls: list[str] = []
    monkeypatch.setattr(KeyAuthentication, "calls", calls)
    return calls


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("scheme", ["token", "basic", "key", "session", "forced", "nothing"])
@pytest.mark.parametrize("endpoint", [EVERYTHING, EVERYTHING[::-1]], ids=["same", "other order"])
def test_the_view_sees_the_same_caller(db, expose, scheme, method, endpoint):
    """The endpoint may authenticate like the view or in another order."""
    probe = Probe.looking(identity, authentication_classes=EVERYTHING)
    expose(path("probe/", probe.as_view()), AUTHENTICATION_CLASSES=endpoint)
    client_by(scheme).generic(method, "/probe/")
    Agent(client_by(scheme)).call_with(f"probe_{method.lower()}", {})
    over_http, over_mcp = probe.seen
    assert over_mcp == over_http


@pytest.mark.parametrize("scheme", ["token", "basic", "key"])
def test_one_authentication_class_is_enough(db, expose, scheme):
    classes = {"token": TokenAuthentication, "basic": BasicAuthentication}
    probe = Probe.looking(identity, authentication_classes=[classes.get(scheme, KeyAuthentication)])
    expose(path("probe/", probe.as_view()), AUTHENTICATION_CLASSES=probe.authentication_classes)
    client_by(scheme).get("/probe/")
    Agent(client_by(scheme)).call_with("probe_get", {})
    assert probe.seen[0] == probe.seen[1]


@pytest.mark.parametrize("closed", [True, False])
def test_the_caller_is_authenticated_once(db, expose, keys, closed):
    probe = Probe.looking(authentication_classes=[KeyAuthentication])
    permissions = [IsAuthenticated] if closed else []
    expose(
        path("probe/", probe.as_view()),
        AUTHENTICATION_CLASSES=[KeyAuthentication],
        PERMISSION_CLASSES=permissions,
    )
    Agent(client_by("key")).call_with("probe_get", {})
    assert keys == ["alice read write"]


@pytest.mark.parametrize("classes", [[KeyAuthentication], EVERYTHING], ids=["one", "several"])
@pytest.mark.parametrize(("key", "status"), [("alice read", 200), ("alice", 403), (None, 401)])
def test_a_permission_of_the_endpoint_may_read_scopes(db, expose, classes, key, status):
    probe = Probe.looking(identity, authentication_classes=classes)
    expose(
        path("probe/", probe.as_view()),
        AUTHENTICATION_CLASSES=classes,
        PERMISSION_CLASSES=[HasReadScope],
    )
    agent = Agent(APIClient(headers={"x-key": key} if key else {}))
    response = agent.post(*agent.frame("tools/call", {"name": "probe_get", "arguments": {}}))
    assert response.status_code == status
    assert len(probe.seen) == (status == 200)


@pytest.mark.parametrize("classes", [[KeyAuthentication], EVERYTHING], ids=["one", "several"])
def test_a_permission_of_the_view_may_read_scopes(db, expose, classes):
    probe = Probe.looking(
        identity, authentication_classes=classes, permission_classes=[HasReadScope]
    )
    expose(path("probe/", probe.as_view()), AUTHENTICATION_CLASSES=classes)
    result = {
        scopes: Agent(APIClient(headers={"x-key": f"alice {scopes}"})).call_with("probe_get", {})
        for scopes in ("read", "write")
    }
    assert not result["read"].is_error
    assert result["write"].code == "FORBIDDEN"
    assert len(probe.seen) == 1


@pytest.mark.parametrize("classes", [[KeyAuthentication], EVERYTHING], ids=["one", "several"])
@pytest.mark.parametrize(("scopes", "status"), [("read", 200), ("", 403)])
def test_a_key_without_a_user_is_authenticated(db, expose, classes, scopes, status):
    """Over HTTP an authenticator that returns a pair counts as successful with any user."""
    probe = Probe.looking(identity, authentication_classes=classes)
    expose(
        path("probe/", probe.as_view()),
        AUTHENTICATION_CLASSES=classes,
        PERMISSION_CLASSES=[HasReadScope],
    )
    agent = Agent(APIClient(headers={"x-key": f"machine {scopes}"}))
    response = agent.post(*agent.frame("tools/call", {"name": "probe_get", "arguments": {}}))
    assert response.status_code == status


def test_a_view_with_other_authentication_authenticates_besides_the_endpoint(
    db, expose, http_of, keys
):
    probe = Probe.looking(
        identity, authentication_classes=[KeyAuthentication], permission_classes=[IsAuthenticated]
    )
    expose(
        path("probe/", probe.as_view()),
        AUTHENTICATION_CLASSES=[TokenAuthentication],
        PERMISSION_CLASSES=[IsAuthenticated],
    )
    http = http_of("bob")
    assert Agent(http).call_with("probe_get", {}).code == "UNAUTHORIZED"
    http.defaults["HTTP_X_KEY"] = "alice read"
    assert Agent(http).call_with("probe_get", {}).data == {"user": "alice"}
    assert [seen[:2] for seen in probe.seen] == [
        (KeyAuthentication, User.objects.get(username="alice"))
    ]


def test_a_credential_for_the_view_only_is_refused_by_the_endpoint(db, expose, keys):
    probe = Probe.looking(identity, authentication_classes=[KeyAuthentication])
    expose(
        path("probe/", probe.as_view()),
        AUTHENTICATION_CLASSES=[TokenAuthentication],
        PERMISSION_CLASSES=[IsAuthenticated],
    )
    agent = Agent(client_by("key"))
    response = agent.post(*agent.frame("tools/call", {"name": "probe_get", "arguments": {}}))
    assert response.status_code == 401
    assert probe.seen == keys == []


@pytest.mark.parametrize("scheme", ["session", "forced"])
def test_force_login_and_force_authenticate_work_at_the_endpoint(db, scheme):
    agent = Agent(client_by(scheme))
    assert agent.call("customers_list").envelope["meta"]["pagination"]["total_count"] == 30
    assert not agent.call("quote", product="cast-iron-pan").is_error
