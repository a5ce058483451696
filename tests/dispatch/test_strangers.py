"""A caller without valid credentials learns nothing about a call, even if no view ran."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.http import JsonResponse
from django.test import Client
from django.urls import path
from rest_framework.authentication import TokenAuthentication
from rest_framework.exceptions import NotAuthenticated
from rest_framework.generics import CreateAPIView
from rest_framework.serializers import ModelSerializer

from drf_mcp.dispatch.dispatcher import Dispatcher
from drf_mcp.exposure import mcp_tool, registry
from drf_mcp.features import CallState
from drf_mcp.transports.in_process import LocalEndpoint
from tests.agents import Agent

TOKENS = "rest_framework.authentication.TokenAuthentication"
STRANGERS = {"no credentials": {}, "a bad token": {"authorization": "Token forged"}}


class GroupSerializer(ModelSerializer):
    class Meta:
        model = Group
        fields = ["name"]


class Groups(CreateAPIView):
    # The same class as the endpoint's: the view's own authentication would give 401 as well.
    authentication_classes = [TokenAuthentication]
    queryset = Group.objects.all()
    serializer_class = GroupSerializer


@pytest.fixture
def call(expose, db):
    """Returns a function that calls groups_create with these headers and settings."""

    def call(headers, settings=None, /, **arguments):
        authenticated = "rest_framework.permissions.IsAuthenticated"
        view = mcp_tool(idempotency_key=True, dry_run=True)(type("Groups", (Groups,), {}))
        expose(
            path("groups/", view.as_view()),
            AUTHENTICATION_CLASSES=[TOKENS],
            PERMISSION_CLASSES=[authenticated],
            **(settings or {}),
        )
        agent = Agent(Client(headers=headers), "2025-11-25")
        message, own = agent.frame("tools/call", {"name": "groups_create", "arguments": arguments})
        return agent.post(message, own)

    return call


@pytest.mark.parametrize("headers", STRANGERS.values(), ids=STRANGERS)
@pytest.mark.parametrize(
    "arguments",
    [
        {"nmae": "a"},
        {"name": "a", "dry_run": "perhaps"},
        {"name": "a", "idempotency_key": 7},
        {"name": "a"},
    ],
    ids=["an unknown argument", "a wrong flag", "a wrong key", "arguments that are right"],
)
def test_a_stranger_gets_401_and_no_name_of_an_argument(call, headers, arguments):
    answer = call(headers, **arguments)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Token")
    for word in (b"nmae", b"accepted", b"idempotency_key", b"dry_run", b'"name"'):
        assert word not in answer.content


class Closed:
    """Answers in place of the view."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        return JsonResponse({"detail": "Closed until Monday."}, status=403)


@pytest.mark.parametrize("headers", STRANGERS.values(), ids=STRANGERS)
def test_a_stranger_gets_401_if_middleware_answers_in_place_of_the_view(call, headers):
    answer = call(headers, {"CALL_MIDDLEWARE": ["tests.dispatch.test_strangers.Closed"]}, name="a")
    assert answer.status_code == 401
    assert b"Monday" not in answer.content


@pytest.mark.parametrize("arguments", [{"name": "a"}, {"nmae": "a"}])
def test_dispatch_raises_for_a_stranger(call, arguments):
    """Even if call middleware answers in place of the view."""
    call({}, {"CALL_MIDDLEWARE": ["tests.dispatch.test_strangers.Closed"]})
    tool = registry.tools()["groups_create"]
    with pytest.raises(NotAuthenticated):
        Dispatcher().dispatch(CallState(tool, arguments, LocalEndpoint().make_caller()))
