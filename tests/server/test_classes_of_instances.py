"""A view whose classes only an instance can tell is a tool like any other."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import path
from rest_framework.authentication import BasicAuthentication
from rest_framework.permissions import AllowAny, IsAdminUser
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.operators.lock import ToolSurface
from drf_mcp.tools import registry
from tests.agents import Agent

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
    """Return a view that chooses these classes when asked."""
    chosen = {name: property(lambda self, value=value: value) for name, value in classes.items()}
    return type("Choosing", (Answering,), chosen)


@pytest.fixture
def agent_at(expose, db):
    """Return an anonymous agent at a view."""

    def agent(view_class: type[APIView]) -> Agent:
        expose(path("choosing/", view_class.as_view()))
        return Agent(Client(raise_request_exception=False))

    return agent


@pytest.mark.parametrize("name", CLASSES)
def test_it_is_listed(agent_at, name):
    assert list(agent_at(choosing(**{name: CLASSES[name]})).tools()) == ["choosing"]


@pytest.mark.parametrize("name", CLASSES)
def test_it_answers(agent_at, name):
    assert not agent_at(choosing(**{name: CLASSES[name]})).call("choosing").is_error


def test_its_permissions_are_asked(agent_at):
    assert list(agent_at(choosing(permission_classes=[IsAdminUser])).tools()) == []


def test_the_lock_file_says_that_its_permissions_are_its_own(agent_at):
    agent_at(choosing(permission_classes=[IsAdminUser]))
    assert ToolSurface(registry.tools()["choosing"]).get_permissions() == ["chosen by the view"]
