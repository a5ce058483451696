"""The checks of write options that name something that does not exist."""

from __future__ import annotations

import functools

import pytest
from django.contrib.auth.models import Group
from django.urls import path
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.response import Response
from rest_framework.serializers import ModelSerializer
from rest_framework.views import APIView
from rest_framework.viewsets import ModelViewSet

from drf_mcp.exposure import mcp_viewset, registry


class GroupSerializer(ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


class Groups(ModelViewSet):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer


class Bare(APIView):
    def put(self, request, pk):
        return Response({})


def routes_of(view_class, **options):
    view_class = mcp_viewset(**options)(type("Own", (view_class,), {}))
    if not hasattr(view_class, "get_object"):
        return [path("own/<int:pk>/", view_class.as_view())]
    actions = {"get": "retrieve", "patch": "partial_update"}
    return [path("own/<int:pk>/", view_class.as_view(actions))]


def test_a_version_field_that_does_not_exist_is_reported_with_the_nearest_name(expose, found):
    expose(*routes_of(Groups, if_match="nmae"))
    (error,) = found("drf_mcp.E009")
    assert error.msg.endswith("Group has no field 'nmae'. Did you mean 'name'?")


def test_a_version_field_of_a_view_without_an_object_is_reported(expose, found):
    expose(*routes_of(Bare, if_match="name"))
    (error,) = found("drf_mcp.E009")
    assert "no get_object()" in error.msg


def test_a_version_field_of_a_view_behind_a_decorator_is_reported_and_not_offered(expose, found):
    """Nothing could compare it, and a stale write would pass."""
    (route,) = routes_of(Groups, if_match="name")
    view = route.callback
    route.callback = functools.wraps(view)(lambda *args, **kwargs: view(*args, **kwargs))
    expose(route)
    (error,) = found("drf_mcp.E009")
    assert "a decorator around it" in error.msg
    tool = registry.tools()["own_partial_update"]
    assert "if_match" not in tool.input_schema["properties"]


@pytest.mark.slow
def test_an_existing_version_field_is_not_reported(expose, found):
    for view_class, own in ((Groups, "name"), (Groups, True), (Bare, True)):
        expose(*routes_of(view_class, if_match=own))
        assert found("drf_mcp.E009") == []


class Refund(APIView):
    permission_classes = [AllowAny]

    def get(self, request):
        return Response({})

    def post(self, request):
        return Response({})


def test_writes_without_permissions_are_reported_together(expose, found):
    guarded = type("Guarded", (Refund,), {"permission_classes": [IsAuthenticated]})
    refunds = [type(f"Refund{n}", (Refund,), {}) for n in range(10)]
    open_ones = [path(f"refund{n}/", view.as_view()) for n, view in enumerate(refunds)]
    expose(*open_ones, path("guarded/", guarded.as_view()))
    (warning,) = found("drf_mcp.W035")
    names = ", ".join(f"refund{n}_post" for n in range(8))
    assert warning.msg == f"Tools that change data and ask for no permission: {names} and 2 more."


def test_writes_with_a_permission_are_not_reported(expose, found):
    guarded = type("Guarded", (Refund,), {"permission_classes": [IsAuthenticated]})
    expose(path("guarded/", guarded.as_view()))
    assert found("drf_mcp.W035") == []
