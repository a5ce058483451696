"""Groups, several of which a client reads or writes in one call."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import path
from rest_framework.permissions import BasePermission
from rest_framework.serializers import ModelSerializer
from rest_framework.viewsets import ReadOnlyModelViewSet

from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, ResponseV2Envelope, StatusEnvelope
from drf_mcp.exposure import mcp_viewset
from drf_mcp.views import MCPView
from tests.agents import Agent
from tests.tools.conftest import tool_of, tools_of  # noqa: F401

ENVELOPES = {
    "response_v2": ResponseV2Envelope,
    "ok": OkEnvelope,
    "status": StatusEnvelope,
    "plain": PlainEnvelope,
}


class IsNoSecret(BasePermission):
    """Refuses the group named secret."""

    message = "This group is secret."

    def has_object_permission(self, request, view, obj) -> bool:
        return obj.name != "secret"


class GroupSerializer(ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


@mcp_viewset(many=True)
class Groups(ReadOnlyModelViewSet):
    # Without authentication classes a refusal is 403 and not 401.
    authentication_classes = []
    permission_classes = [IsNoSecret]
    queryset = Group.objects.order_by("pk")
    serializer_class = GroupSerializer


@pytest.fixture
def ids(db) -> list[int]:
    """The ids of three groups: red, green and secret."""
    return [Group.objects.create(name=name).pk for name in ("red", "green", "secret")]


@pytest.fixture
def serve(expose, db) -> Callable[..., Callable[..., Agent]]:
    """Mount patterns; returns a function that makes an agent at the endpoint of an envelope."""

    def mount(*patterns, **mcp_settings) -> Callable[..., Agent]:
        endpoints = [
            path(f"mcp/{name}", MCPView.as_view(envelope_class=envelope_class))
            for name, envelope_class in ENVELOPES.items()
        ]
        expose(*endpoints, *patterns, **mcp_settings)

        def agent_at(envelope: str = "response_v2") -> Agent:
            client = Client(raise_request_exception=False)
            return Agent(client, path=f"/mcp/{envelope}")

        return agent_at

    return mount


@pytest.fixture
def groups(serve) -> Callable[..., Agent]:
    """Returns an agent with the tools of the groups, for the name of an envelope."""
    return serve(
        path("groups/", Groups.as_view({"get": "list"})),
        path("groups/<int:pk>/", Groups.as_view({"get": "retrieve"})),
    )
