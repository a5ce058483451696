"""A view that cannot be made without a request takes no list of tools down with it."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import path
from rest_framework.permissions import AllowAny, IsAdminUser
from rest_framework.response import Response
from rest_framework.views import APIView

from tests.agents import Agent


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


@pytest.fixture
def agent(expose, db) -> Agent:
    """An anonymous agent at both views."""
    expose(path("open/", Unmakeable.as_view()), path("guarded/", Guarded.as_view()))
    return Agent(Client(raise_request_exception=False))


def test_it_is_listed_with_what_its_class_says(agent):
    assert agent.tools()["open"]["description"] == Unmakeable.__doc__


def test_its_permissions_are_asked_all_the_same(agent):
    assert list(agent.tools()) == ["open"]


def test_a_call_fails_as_over_http_and_says_nothing_of_why(agent):
    result = agent.call("open")
    assert result.code == "INTERNAL_ERROR"
    assert "no request" not in str(result.raw)
