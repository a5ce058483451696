"""The argument ``ids``: which endpoints have it and which values it takes."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.core.exceptions import ImproperlyConfigured
from django.urls import include, path
from rest_framework.decorators import action, api_view
from rest_framework.generics import ListAPIView
from rest_framework.response import Response
from rest_framework.routers import DefaultRouter
from rest_framework.views import APIView
from rest_framework.viewsets import ModelViewSet

from drf_mcp.exposure import Registry, mcp_tool, mcp_viewset
from tests.dispatch.batches.conftest import GroupSerializer
from tests.tools.conftest import urlconf_of

TOOL = "groups_retrieve"


def test_ids_takes_the_place_of_the_key_and_is_required(groups):
    schema = groups().tools()[TOOL]["inputSchema"]
    assert schema["required"] == ["ids"]
    assert "pk" not in schema["properties"]
    assert schema["properties"]["ids"] == {
        "type": "array",
        "description": "Answered in this order, with null for a miss.",
        "items": {"type": "integer", "minimum": 0},
        "minItems": 1,
        "maxItems": 50,
    }


@pytest.mark.parametrize(
    ("ids", "place", "code"),
    [
        ([], "ids", "empty"),
        (list(range(51)), "ids", "max_length"),
        ([1, {"id": 2}], "ids[1]", "invalid"),
        ([True], "ids[0]", "invalid"),
        ([1, None], "ids[1]", "invalid"),
        ({"id": 1}, "ids", "invalid"),
        (None, "ids", "required"),
    ],
)
def test_a_value_that_is_no_list_of_ids_is_refused(groups, ids, place, code):
    errors = groups("ok").call(TOOL, ids=ids).envelope["errors"]
    assert [(error["path"], error["code"]) for error in errors] == [(place, code)]


@mcp_viewset(many=True)
class Everything(ModelViewSet):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer

    @mcp_tool(many=True)
    @action(detail=True)
    def summary(self, request, pk=None) -> Response:
        return Response({})

    @action(detail=True)
    def history(self, request, pk=None) -> Response:
        return Response({})


def test_many_on_a_viewset_is_for_retrieve_and_an_action_declares_its_own(settings):
    settings.DRF_MCP = {"ARCHIVE_CLASS": None}
    router = DefaultRouter()
    router.register("everything", Everything)
    tools = Registry().tools(urlconf_of([path("", include(router.urls))]))
    taking = {name for name, tool in tools.items() if "ids" in tool.input_schema["properties"]}
    assert taking == {"everything_retrieve", "everything_summary"}


class Named(APIView):
    def get(self, request, place, name) -> Response:
        return Response({})


class Searched(APIView):
    """Reads a query parameter that is named ids too."""

    def get(self, request, pk) -> Response:
        return Response(request.query_params.getlist("ids"))


@mcp_tool(many=True)
class Listed(ListAPIView):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer


@mcp_tool(many=True)
@api_view(["POST"])
def posted(request, pk) -> Response: ...


class Acting(ModelViewSet):
    @mcp_tool(many=True)
    @action(detail=True, methods=["post"])
    def close(self, request, pk=None) -> Response: ...


def test_many_on_an_endpoint_that_does_not_read_one_object_is_an_error(subtests, settings):
    for pattern in [
        path("listed/", Listed.as_view()),
        path("posted/<int:pk>/", posted),
        path("acting/<int:pk>/close/", Acting.as_view({"post": "close"}, detail=True)),
    ]:
        with subtests.test(pattern=pattern):
            settings.DRF_MCP = {}
            with pytest.raises(
                ImproperlyConfigured, match=r"many=True of .*: only a GET whose path"
            ):
                Registry().tools(urlconf_of([pattern]))
