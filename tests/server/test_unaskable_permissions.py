"""A tool is hidden from whom its view turns away, not where its permissions cannot be asked."""

from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.test import Client
from django.urls import path
from rest_framework import exceptions
from rest_framework.permissions import BasePermission
from rest_framework.response import Response
from rest_framework.versioning import AcceptHeaderVersioning
from rest_framework.views import APIView

from tests.agents import Agent

CANNOT_TELL = [
    exceptions.ParseError("Attribute 'product' is required."),
    exceptions.ValidationError({"product": ["This field is required."]}),
    exceptions.NotFound(),
    Http404("No product matches the given query."),
    KeyError("product"),
]
REFUSED = [
    exceptions.NotAuthenticated(),
    exceptions.AuthenticationFailed(),
    exceptions.PermissionDenied(),
    PermissionDenied(),
]


def raising(exc: Exception) -> type[APIView]:
    """Return a view whose permission raises an exception."""

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
def listed(expose, db):
    """Return the names of the tools that an anonymous agent sees at a view."""

    def names(view_class: type[APIView]) -> list[str]:
        expose(path("adding/", view_class.as_view()))
        return list(Agent(Client()).tools())

    return names


@pytest.mark.parametrize("exc", CANNOT_TELL, ids=lambda exc: type(exc).__name__)
def test_a_permission_that_misses_a_body_hides_nothing(listed, exc):
    assert listed(raising(exc)) == ["adding"]


@pytest.mark.parametrize("exc", REFUSED, ids=lambda exc: type(exc).__name__)
def test_a_permission_that_turns_the_caller_away_hides_the_tool(listed, exc):
    assert listed(raising(exc)) == []


def test_a_permission_may_ask_what_was_negotiated(listed):
    class Negotiated(BasePermission):
        def has_permission(self, request, view) -> bool:
            return (request.accepted_media_type, request.version) != ("application/json", "2")

    class Adding(raising(KeyError())):
        permission_classes = [Negotiated]
        versioning_class = type("Scheme", (AcceptHeaderVersioning,), {"default_version": "2"})

    assert listed(Adding) == []
