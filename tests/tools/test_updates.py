"""PUT is a tool if it is named, or if no PATCH changes the same."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.urls import include, path
from rest_framework import generics, mixins, serializers, viewsets
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from drf_mcp.exposure import Exposure, mcp_tool, mcp_viewset, registry


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
    """PUT and PATCH are different handlers."""

    def put(self, request, pk) -> Response: ...

    def patch(self, request, pk) -> Response: ...


class Every(Exposure):
    def is_named(self, endpoint):
        return True


@pytest.fixture
def tools(expose):
    """Returns the names of the tools of a view set, or of a view at ``groups/<pk>/``."""

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


def test_put_is_no_tool_if_patch_changes_the_same(tools):
    for view in [Groups, OneGroup]:
        found = tools(view)
        assert "groups_partial_update" in found, view
        assert "groups_update" not in found, view


def test_put_is_a_tool_if_it_is_declared_or_the_only_update(tools):
    for view in [Listed, Decorated, Replaced]:
        assert "groups_update" in tools(view), view


def test_a_put_with_its_own_handler_is_a_tool(tools):
    assert tools(TwoDeeds) == {"groups_put", "groups_patch"}


def test_put_is_a_tool_if_a_pattern_matches_it_and_not_patch(tools):
    for pattern in ["PUT *", "PUT /groups/*", "groups_update"]:
        assert "groups_update" in tools(Groups, INCLUDE=["*", pattern]), pattern


def test_an_exposure_class_may_expose_put(tools):
    assert "groups_update" in tools(Groups, EXPOSURE_CLASS=Every)
