"""Tools whose views cannot be asked like others: without a body, a request or an instance."""

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
from rest_framework.versioning import AcceptHeaderVersioning
from rest_framework.views import APIView

from drf_mcp.management.tool_reports import name_permissions
from drf_mcp.tools import registry
from tests.agents import Agent

CANNOT_TELL = [
    exceptions.ParseError("Attribute 'product' is required."),
    exceptions.ValidationError({"product": ["This field is required."]}),
    exceptions.NotFound(),
    Http404("No product matches the given query."),
    KeyError("product"),
    RuntimeError("No connection."),
]
REFUSED = [
    exceptions.NotAuthenticated(),
    exceptions.AuthenticationFailed(),
    exceptions.PermissionDenied(),
    PermissionDenied(),
]


def raising(exc: Exception) -> type[APIView]:
    class Raising(BasePermission):
        def has_permission(self, request, view) -> bool:
            raise exc

    class Adding(APIView):
        """Add."""

        permission_classes = [Raising]

        def post(self, request) -> Response:
            return Response()

    return Adding


@pytest.fixture
def agent_at(expose, db):
    def agent(*view_classes: type[APIView]) -> Agent:
        expose(*(path(f"{v.__name__.lower()}/", v.as_view()) for v in view_classes))
        return Agent(Client(raise_request_exception=False))

    return agent


# --- Permissions that cannot be asked -----------------------------------------------------


def test_a_permission_hides_the_tool_only_where_it_turns_the_caller_away(subtests, agent_at):
    for exc, names in [
        *((exc, ["adding"]) for exc in CANNOT_TELL),
        *((exc, []) for exc in REFUSED),
    ]:
        with subtests.test(exc=exc, names=names):
            assert list(agent_at(raising(exc)).tools()) == names


def test_a_permission_may_ask_what_was_negotiated(agent_at):
    class Negotiated(BasePermission):
        def has_permission(self, request, view) -> bool:
            return (request.accepted_media_type, request.version) != ("application/json", "2")

    class Adding(raising(KeyError())):
        permission_classes = [Negotiated]
        versioning_class = type("Scheme", (AcceptHeaderVersioning,), {"default_version": "2"})

    assert list(agent_at(Adding).tools()) == []


# --- Views that cannot be made without a request ------------------------------------------


class Unmakeable(APIView):
    """Answer; but only an instance that was made for a request."""

    permission_classes = [AllowAny]

    def __init__(self, **kwargs) -> None:
        raise RuntimeError("no request, no view")

    def get(self, request) -> Response:
        return Response({})


class Guarded(Unmakeable):
    """Answer to staff."""

    permission_classes = [IsAdminUser]


def test_a_view_that_cannot_be_made_is_listed_by_its_class_and_asked_its_permissions(agent_at):
    tools = agent_at(Unmakeable, Guarded).tools()
    assert {name: tool["description"] for name, tool in tools.items()} == {
        "unmakeable": Unmakeable.__doc__
    }


def test_its_call_fails_as_over_http_and_says_nothing_of_why(agent_at):
    result = agent_at(Unmakeable).call("unmakeable")
    assert result.code == "INTERNAL_ERROR"
    assert "no request" not in str(result.raw)


# --- Views whose classes only an instance can tell ----------------------------------------


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


def choosing(**classes) -> type[APIView]:
    chosen = {name: property(lambda self, value=value: value) for name, value in classes.items()}
    return type("Choosing", (Answering,), chosen)


def test_a_view_that_chooses_its_classes_is_a_tool_like_any_other(subtests, agent_at):
    for name in CLASSES:
        with subtests.test(name=name):
            agent = agent_at(choosing(**{name: CLASSES[name]}))
            assert list(agent.tools()) == ["choosing"]
            assert not agent.call("choosing").is_error


def test_permissions_that_the_view_chooses_are_asked_and_in_the_lock_file(agent_at):
    assert list(agent_at(choosing(permission_classes=[IsAdminUser])).tools()) == []
    assert name_permissions(registry.tools()["choosing"]) == ["chosen by the view"]
