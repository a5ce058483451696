"""Results that name the call that undoes their change."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import Group
from django.urls import path
from rest_framework.decorators import action, api_view, permission_classes
from rest_framework.permissions import BasePermission
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.serializers import CharField, Serializer
from rest_framework.viewsets import GenericViewSet, ModelViewSet

from drf_mcp.exceptions import Conflict
from drf_mcp.tools import mcp_tool
from tests.agents import Agent
from tests.contrib.writes.stale.conftest import GroupSerializer


class DenyAll(BasePermission):
    def has_permission(self, request, view) -> bool:
        return False


class ReasonSerializer(Serializer):
    name = CharField()
    reason = CharField()


class Teams(ModelViewSet):
    authentication_classes = []
    permission_classes = []
    queryset = Group.objects.order_by("pk")
    serializer_class = GroupSerializer

    @mcp_tool(undo="teams_destroy")
    def create(self, request):
        return super().create(request)

    @mcp_tool(undo="teams_reopen")
    @action(detail=True, methods=["post"], serializer_class=Serializer)
    def close(self, request, pk=None):
        if self.get_object().name == "closed":
            raise Conflict("It is closed.")
        return Response({"name": self.get_object().name})

    @action(detail=True, methods=["post"], serializer_class=ReasonSerializer)
    def reopen(self, request, pk=None):
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response(serializer.data)

    @mcp_tool(undo="teams_destroy")
    @action(detail=True, methods=["post"], serializer_class=Serializer)
    def copy(self, request, pk=None):
        copied = Group.objects.create(name=f"{self.get_object().name} again")
        return Response(GroupSerializer(copied).data)

    @mcp_tool(undo="teams_destroy")
    @action(detail=True, methods=["post"], serializer_class=Serializer)
    def split(self, request, pk=None):
        """Return an id without a serializer."""
        return Response({"id": 10**6})

    @mcp_tool(undo="secrets_open")
    @action(detail=True, methods=["post"], serializer_class=Serializer)
    def hide(self, request, pk=None):
        return Response({})


class Secrets(GenericViewSet):
    authentication_classes = []
    permission_classes = [DenyAll]
    serializer_class = Serializer

    @action(detail=True, methods=["post"])
    def open(self, request, pk=None):
        return Response({})


router = SimpleRouter()
router.register("teams", Teams, basename="teams")
router.register("secrets", Secrets, basename="secrets")


@pytest.fixture
def teams_at(agents_of) -> Callable[..., Agent]:
    return agents_of(router)


@pytest.fixture
def team(db) -> Group:
    return Group.objects.create(name="red")


def undo_of(result) -> dict | None:
    return result.envelope["meta"].get("undo")


def test_a_create_is_undone_by_the_destroy_of_its_object(teams_at):
    agent = teams_at()
    undo = undo_of(agent.call("teams_create", name="green"))
    assert undo["tool"] == "teams_destroy"
    assert not agent.call_with(undo["tool"], undo["arguments"]).is_error
    assert not Group.objects.filter(name="green").exists()


def test_a_create_of_a_function_is_undone_by_the_path_below(agents_of):
    """No serializer names the object of the response."""

    @mcp_tool(name="crews_create", undo="crews_delete")
    @api_view(["POST"])
    @permission_classes([])
    def crews(request):
        return Response({"id": Group.objects.create(name="green").pk}, status=201)

    @mcp_tool(name="crews_delete")
    @api_view(["DELETE"])
    @permission_classes([])
    def crew(request, pk):
        Group.objects.get(pk=pk).delete()
        return Response(status=204)

    agent = agents_of(
        SimpleNamespace(urls=[path("crews/", crews), path("crews/<int:pk>/", crew)])
    )()
    undo = undo_of(agent.call("crews_create"))
    assert undo == {"tool": "crews_delete", "arguments": {"pk": Group.objects.get(name="green").pk}}
    assert not agent.call_with(undo["tool"], undo["arguments"]).is_error


def test_arguments_come_from_the_call_and_the_answer_and_missing_ones_are_named(teams_at, team):
    undo = undo_of(teams_at().call("teams_close", pk=team.pk))
    arguments = {"id": team.pk, "name": "red"}
    assert undo == {"tool": "teams_reopen", "arguments": arguments, "missing": ["reason"]}


def test_an_action_that_creates_an_object_is_undone_for_that_object(teams_at, team):
    undo = undo_of(teams_at().call("teams_copy", pk=team.pk))
    assert undo["arguments"] == {"id": Group.objects.get(name="red again").pk}


def test_the_key_of_an_unknown_object_is_named_as_missing(teams_at, team):
    undo = undo_of(teams_at().call("teams_split", pk=team.pk))
    assert undo == {"tool": "teams_destroy", "arguments": {}, "missing": ["id"]}


def test_a_refused_call_has_no_undo(teams_at, db):
    closed = Group.objects.create(name="closed")
    assert undo_of(teams_at().call("teams_close", pk=closed.pk)) is None


def test_an_undo_that_the_caller_does_not_see_is_left_out(teams_at, team):
    assert undo_of(teams_at().call("teams_hide", pk=team.pk)) is None


def test_an_undo_that_the_endpoint_excludes_is_left_out(teams_at):
    agent = teams_at(tools=["teams_create"])
    assert undo_of(agent.call("teams_create", name="green")) is None


def test_each_envelope_has_the_undo(teams_at, team):
    readers = {
        "response_v2": lambda raw: raw["structuredContent"]["meta"],
        "ok": lambda raw: raw["structuredContent"]["meta"],
        "status": lambda raw: raw["structuredContent"]["metadata"],
        "plain": lambda raw: json.loads(raw["content"][1]["text"]),
    }
    for envelope, read in readers.items():
        raw = teams_at(envelope).call("teams_close", pk=team.pk).raw
        assert read(raw)["undo"]["arguments"] == {"id": team.pk, "name": "red"}


def test_the_undo_has_grouped_arguments_in_the_grouped_layout(teams_at, team, settings):
    agent = teams_at()
    settings.DRF_MCP = {**settings.DRF_MCP, "ARGUMENTS": "grouped"}
    undo = undo_of(agent.call("teams_close", kwargs={"pk": team.pk}))
    assert undo["arguments"] == {"kwargs": {"pk": team.pk}, "body": {"name": "red"}}


def test_a_dry_run_has_no_undo(teams_at):
    agent = teams_at(tool_options={"dry_run": True})
    assert undo_of(agent.call("teams_create", name="green", dry_run=True)) is None
    assert undo_of(agent.call("teams_create", name="green", dry_run=False)) is not None
