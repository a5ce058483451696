"""An inactive user is refused with every credential."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.test import Client, RequestFactory
from django.urls import path
from django.utils.functional import SimpleLazyObject
from rest_framework.authentication import (
    BaseAuthentication,
    SessionAuthentication,
    TokenAuthentication,
)
from rest_framework.authtoken.models import Token
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.access.authentication import Caller
from drf_mcp.access.narrowing import SERVER_READS as READS
from drf_mcp.transports.in_process import InProcessClient
from tests.agents import Agent

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


class ByHeader(BaseAuthentication):
    """Accepts a username, and does not check whether the user is active."""

    def authenticate(self, request: Any) -> Any:
        name = request.headers.get("X-User")
        return (User.objects.get(username=name), name) if name else None

    def authenticate_header(self, request: Any) -> str:
        return "X-User"


class Orders(APIView):
    authentication_classes: Any = [ByHeader]
    permission_classes = [AllowAny]
    done: list[str] = []

    def get(self, request: Any) -> Response:
        self.done.append("get")
        return Response({})


class OrdersWithSteps(Orders):
    """Authenticates in `initial`, after a step of the project."""

    def initial(self, request: Any, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)


class OrdersByToken(Orders):
    """Authenticates with another class than the endpoint."""

    authentication_classes = []


@pytest.fixture
def serve(expose, db, monkeypatch):
    monkeypatch.setattr(Orders, "done", [])

    def serve(view: Any = Orders, classes: Any = (ByHeader,)) -> None:
        expose(
            path("orders/", view.as_view()),
            AUTHENTICATION_CLASSES=list(classes),
            PERMISSION_CLASSES=["rest_framework.permissions.AllowAny"],
        )

    return serve


def send(name: str, message: Any = LIST) -> Any:
    agent = Agent(Client(headers={"x-user": name}), "2025-11-25")
    return agent.post(message, {"MCP-Protocol-Version": "2025-11-25"})


def call(name: str) -> Any:
    params = {"name": "orders", "arguments": {}}
    return send(name, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


@pytest.mark.parametrize("view", [Orders, OrdersWithSteps, OrdersByToken])
def test_an_inactive_user_can_neither_list_nor_call(serve, view):
    serve(view)
    assert (send("alice").status_code, call("alice").status_code) == (200, 200)
    assert Orders.done == ["get"]
    User.objects.filter(username="alice").update(is_active=False)
    Orders.done.clear()
    refused = send("alice"), call("alice")
    assert [answer.status_code for answer in refused] == [401, 401]
    assert refused[1]["WWW-Authenticate"] == "X-User"
    assert Orders.done == []


@pytest.mark.parametrize("credential", ["token", "session"])
def test_an_inactive_user_is_refused_by_token_and_session(expose, db, credential):
    authenticated = "rest_framework.permissions.IsAuthenticated"
    expose(path("orders/", Orders.as_view()), PERMISSION_CLASSES=[authenticated])
    user = User.objects.get(username="alice")
    http = Client()
    if credential == "session":
        http.force_login(user)
    else:
        token, _ = Token.objects.get_or_create(user=user)
        http = Client(headers={"authorization": f"Token {token.key}"})
    agent = Agent(http, "2025-11-25")
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert agent.post(LIST).status_code == 401


def test_the_in_process_client_refuses_an_inactive_user(serve):
    serve()
    user = User.objects.get(username="alice")
    params = {"name": "orders", "arguments": {}}
    assert "result" in InProcessClient(user).send("tools/call", params)
    user.is_active = False
    for method in ("tools/call", "tools/list"):
        with pytest.raises(AuthenticationFailed, match="not active"):
            InProcessClient(user).send(method, params if "call" in method else {})
    assert Orders.done == ["get"]


def remove_row(user: User) -> None:
    # Other tests' models refer to users, but their tables do not exist here.
    Token.objects.filter(user=user).delete()
    User.objects.filter(pk=user.pk)._raw_delete("default")


@pytest.mark.parametrize(
    ("by_token", "end"),
    [
        (True, lambda user: Token.objects.filter(user=user).delete()),
        (True, lambda user: User.objects.filter(pk=user.pk).update(is_active=False)),
        (False, lambda user: User.objects.filter(pk=user.pk).update(is_active=False)),
        (False, remove_row),
    ],
)
def test_a_renewed_caller_is_authenticated_by_the_current_rows(db, by_token, end):
    user = User.objects.create_user("eve")
    headers = {"Authorization": f"Token {Token.objects.create(user=user).key}"}
    request = RequestFactory(headers=headers if by_token else {}).post("/mcp")
    # As set by Django's session middleware.
    request.user = AnonymousUser() if by_token else SimpleLazyObject(lambda: user)
    kind = TokenAuthentication if by_token else SessionAuthentication
    request._dont_enforce_csrf_checks = True
    caller = Caller(request, None, [kind], [IsAuthenticated])
    caller.narrowings = (READS,)
    assert caller.renew().authenticate().user == caller.authenticate().user == user
    assert caller.renew().narrowings == (READS,)
    end(user)
    assert caller.authenticate().user == user
    with pytest.raises((AuthenticationFailed, NotAuthenticated)):
        caller.renew().authenticate()
