"""Tools of views whose permissions, instances or classes depend on a request."""

from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.test import Client
from django.urls import path
from rest_framework import exceptions
from rest_framework.authentication import BasicAuthentication
from rest_framework.permissions import AllowAny, BasePermission, IsAdminUser
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import APIView

from tests.agents import Agent

UNDECIDED = [
    exceptions.ParseError("Attribute 'product' is required."),
    exceptions.ValidationError({"product": ["This field is required."]}),
    exceptions.NotFound(),
    Http404("No product matches the given query."),
    KeyError("product"),
    RuntimeError("No connection."),
]
DENIED = [
    exceptions.NotAuthenticated(),
    exceptions.AuthenticationFailed(),
    exceptions.PermissionDenied(),
    PermissionDenied(),
]


def make_view(exc: Exception) -> type[APIView]:
    class RaisingPermission(BasePermission):
        def has_permission(self, request, view) -> bool:
            raise exc

    class Adding(APIView):
        """Add something."""

        permission_classes = [RaisingPermission]

        def post(self, request) -> Response:
            return Response()

    return Adding


@pytest.fixture
def agent_at(expose, db):
    def agent(*view_classes: type[APIView]) -> Agent:
        expose(*(path(f"{v.__name__.lower()}/", v.as_view()) for v in view_classes))
        return Agent(Client(raise_request_exception=False))

    return agent


# --- Permissions that raise ---------------------------------------------------------------


def test_a_permission_hides_the_tool_only_if_it_denies_access(subtests, agent_at):
    for exc, names in [*((exc, ["adding"]) for exc in UNDECIDED), *((exc, []) for exc in DENIED)]:
        with subtests.test(exc=exc, names=names):
            assert list(agent_at(make_view(exc)).tools()) == names


# --- Views whose instances need a request -------------------------------------------------


class NeedsRequest(APIView):
    """Answer, if a request made the instance."""

    permission_classes = [AllowAny]

    def __init__(self, **kwargs) -> None:
        raise RuntimeError("no request, no view")

    def get(self, request) -> Response:
        return Response({})


class NeedsRequestOfStaff(NeedsRequest):
    """Answer to staff."""

    permission_classes = [IsAdminUser]


def test_a_view_without_an_instance_is_described_by_its_class_and_hidden_by_its_permissions(
    agent_at,
):
    tools = agent_at(NeedsRequest, NeedsRequestOfStaff).tools()
    assert {name: tool["description"] for name, tool in tools.items()} == {
        "needsrequest": NeedsRequest.__doc__
    }


# --- Views with properties for their classes ----------------------------------------------


CLASSES = {
    "authentication_classes": [BasicAuthentication],
    "parser_classes": [],
    "permission_classes": [AllowAny],
    "renderer_classes": [JSONRenderer],
    "throttle_classes": [],
}


class Answering(APIView):
    """Answer."""

    permission_classes = [AllowAny]

    def get(self, request) -> Response:
        return Response({})


def make_view_with_properties(**classes) -> type[APIView]:
    chosen = {name: property(lambda self, value=value: value) for name, value in classes.items()}
    return type("Choosing", (Answering,), chosen)


def test_a_view_with_a_property_for_its_classes_is_a_tool(subtests, agent_at):
    for name in CLASSES:
        with subtests.test(name=name):
            agent = agent_at(make_view_with_properties(**{name: CLASSES[name]}))
            assert list(agent.tools()) == ["choosing"]
            assert not agent.call("choosing").is_error
