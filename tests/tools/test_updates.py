"""PUT beside PATCH: a tool where it is asked for."""

from __future__ import annotations

import io

import pytest
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.test import Client
from django.urls import include, path
from rest_framework import generics, mixins, serializers, viewsets
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from drf_mcp.tools import Exposure, Registry, mcp_tool, mcp_viewset, registry
from tests.agents import Agent


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["name"]


class Groups(viewsets.ModelViewSet):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer


@mcp_viewset(actions=["update", "partial_update"])
class Listed(Groups): ...


class Decorated(Groups):
    @mcp_tool()
    def update(self, request, *args, **kwargs):
        return super().update(request, *args, **kwargs)


class Replaced(mixins.UpdateModelMixin, viewsets.GenericViewSet):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer
    http_method_names = ["put"]


class OneGroup(generics.RetrieveUpdateAPIView):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer


class TwoDeeds(generics.GenericAPIView):
    """What PUT does here, PATCH does not."""

    def put(self, request, pk) -> Response: ...

    def patch(self, request, pk) -> Response: ...


class Every(Exposure):
    def is_named(self, endpoint):
        return True


@pytest.fixture
def tools(expose):
    """The names of the tools of a viewset, or of a view at ``groups/<pk>/``."""

    def names(view, **mcp_settings) -> set[str]:
        router = SimpleRouter()
        if issubclass(view, viewsets.GenericViewSet):
            router.register("groups", view, basename="group")
            pattern = path("", include(router.urls))
        else:
            pattern = path("groups/<int:pk>/", view.as_view())
        expose(pattern, **{"INCLUDE": [], **mcp_settings})
        return set(registry.tools())

    return names


def test_put_is_left_out_where_patch_changes_the_same(tools):
    for view in [Groups, OneGroup]:
        found = tools(view)
        assert "groups_partial_update" in found, view
        assert "groups_update" not in found, view


def test_put_is_a_tool_where_the_code_names_it_or_nothing_else_updates(tools):
    cases = [Listed, Decorated, Replaced]
    assert [view for view in cases if "groups_update" not in tools(view)] == []


def test_put_of_a_deed_of_its_own_is_a_tool(tools):
    assert tools(TwoDeeds) == {"groups_put", "groups_patch"}


def test_a_pattern_that_fits_put_alone_asks_for_it(tools):
    cases = ["PUT *", "PUT /groups/*", "groups_update"]
    assert [
        pattern for pattern in cases if "groups_update" not in tools(Groups, INCLUDE=["*", pattern])
    ] == []


def test_a_pattern_that_fits_patch_as_well_asks_for_nothing(tools):
    cases = ["*", "/groups/*", "groups_*"]
    assert [
        pattern
        for pattern in cases
        if not ("groups_update" not in tools(Groups, INCLUDE=[pattern]))
    ] == []


def test_put_stays_where_patch_is_excluded(tools):
    found = tools(Groups, EXCLUDE=["PATCH *"])
    assert "groups_update" in found
    assert "groups_partial_update" not in found


def test_an_exposure_class_may_name_everything(tools):
    assert "groups_update" in tools(Groups, EXPOSURE_CLASS=Every)


def test_a_registry_may_ask_for_put(tools):
    tools(Groups)
    assert set(Registry(["PUT *"]).tools()) == {"groups_update"}
    assert "groups_update" not in Registry(["groups_*"]).tools()


def test_what_is_left_out_is_an_unknown_tool_to_a_call(tools):
    tools(Groups)
    error = Agent(Client()).error("tools/call", name="groups_update", arguments={"pk": 1})
    assert error["code"] == -32602
    assert error["message"] == "Unknown tool: groups_update."


def test_the_report_says_how_to_get_it_back(tools):
    tools(Groups)
    out = io.StringIO()
    call_command("mcp_tools", "unexposed", stdout=out)
    text = " ".join(out.getvalue().split())
    assert "PUT /groups/{pk}/" in text
    assert "name update in actions=" in text
