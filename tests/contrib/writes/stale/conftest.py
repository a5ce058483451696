"""Users whose version is ``last_login``, and groups with ETags."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import include, path
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.http import condition
from rest_framework.permissions import BasePermission
from rest_framework.routers import SimpleRouter
from rest_framework.serializers import ModelSerializer
from rest_framework.viewsets import ModelViewSet

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
    def has_object_permission(self, request, view, obj) -> bool:
        return obj.username != "secret"


class UserSerializer(ModelSerializer):
    class Meta:
        model = User
        fields = ["id", "username", "first_name"]


class VersionedSerializer(ModelSerializer):
    class Meta:
        model = User
        fields = ["id", "first_name", "last_login"]
        read_only_fields = ["last_login"]


class Users(ModelViewSet):
    authentication_classes = []
    permission_classes = [IsNoSecret]
    queryset = User.objects.order_by("pk")
    serializer_class = UserSerializer

    def perform_update(self, serializer) -> None:
        serializer.save(last_login=timezone.now())


@mcp_viewset(if_match="last_login")
class Guarded(Users):
    def perform_destroy(self, instance):
        # delete() would query models of other tests, some of which have no table.
        User.objects.filter(pk=instance.pk)._raw_delete("default")


@mcp_viewset(if_match="last_login")
class Versioned(Users):
    serializer_class = VersionedSerializer


@mcp_viewset(["retrieve"], if_match="last_login", many=True)
class Several(Users):
    pass


class GroupSerializer(ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


def etag_of(request, pk=None, **kwargs) -> str:
    return f'"{Group.objects.get(pk=pk).name}"'


@mcp_viewset(if_match=True)
@method_decorator(condition(etag_func=etag_of), name="retrieve")
@method_decorator(condition(etag_func=etag_of), name="partial_update")
class Tagged(ModelViewSet):
    authentication_classes = []
    permission_classes = []
    queryset = Group.objects.order_by("pk")
    serializer_class = GroupSerializer


router = SimpleRouter()
router.register("guarded", Guarded, basename="guarded")
router.register("versioned", Versioned, basename="versioned")
router.register("several", Several, basename="several")
router.register("tagged", Tagged, basename="tagged")
router.register("unguarded", Users, basename="unguarded")


@pytest.fixture
def agents_of(expose, db) -> Callable[[SimpleRouter], Callable[..., Agent]]:
    """Return a function that makes agents for the tools of a router.

    ``agents_of(router)("ok")`` is an agent at an endpoint with that envelope; further options are
    those of ``MCPView``.
    """

    def agents(routes: SimpleRouter) -> Callable[..., Agent]:
        def make(envelope: str = "response_v2", **options) -> Agent:
            view = MCPView.as_view(envelope_class=ENVELOPES[envelope], **options)
            expose(path("own/mcp", view), path("", include(routes.urls)))
            return Agent(Client(), path="/own/mcp")

        return make

    return agents


@pytest.fixture
def agent_at(agents_of) -> Callable[..., Agent]:
    """Return an agent for the tools of this module."""
    return agents_of(router)


@pytest.fixture
def user(db) -> User:
    return User.objects.create(username="anne", first_name="Anne", last_login=timezone.now())
