"""Writes of middleware and views during a probe are rolled back."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.test import RequestFactory
from django.urls import path
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.access.authentication import Caller
from drf_mcp.dispatch.probe import Probe
from drf_mcp.exposure import registry

pytestmark = pytest.mark.django_db


def tracing_middleware(get_response):
    def respond(request):
        Group.objects.create(name=f"asked for {request.path}")
        return get_response(request)

    return respond


class Things(APIView):
    """Writes a row for each request."""

    authentication_classes: list[type] = []
    permission_classes: list[type] = []

    def get(self, request):
        Group.objects.create(name="a reader")
        return Response([1, 2, 3])


@pytest.fixture
def probe(expose):
    def make(**mcp_settings) -> Probe:
        expose(path("things/", Things.as_view()), AUTHENTICATION_CLASSES=[], **mcp_settings)
        caller = Caller(RequestFactory().post("/mcp"), None, [], [])
        return Probe(caller, registry.tool("things"))

    return make


@pytest.mark.parametrize("ask", [Probe.check_permissions, Probe.read])
def test_writes_of_middleware_are_rolled_back(probe, ask):
    ask(probe(CALL_MIDDLEWARE=[f"{__name__}.tracing_middleware"]))
    assert not Group.objects.exists()


def test_writes_of_a_view_are_rolled_back(probe):
    assert probe().read().content.data == [1, 2, 3]
    assert not Group.objects.exists()
