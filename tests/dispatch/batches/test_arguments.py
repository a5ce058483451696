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

from drf_mcp.test.requests import sample_arguments
from drf_mcp.tools import Registry, mcp_tool, mcp_viewset
from drf_mcp.transports.http_equivalent import EquivalentRequest
from tests.dispatch.batches.conftest import Groups, GroupSerializer
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


def test_the_title_has_the_plural(groups):
    assert groups().tools()[TOOL]["title"] == "Get several groups"


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


def test_fifty_ids_are_taken(groups, ids):
    results = groups().call(TOOL, ids=[ids[0], *range(10**6, 10**6 + 49)]).data["results"]
    assert len(results) == 50


def test_the_name_of_the_key_is_answered_with_the_name_ids(groups, ids):
    (problem,) = groups().call(TOOL, pk=ids[0]).problems
    assert (problem["pointer"], problem["remediation"]) == ("/pk", "Did you mean 'ids'?")


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


def test_a_view_without_a_lookup_field_takes_the_last_kwarg_of_its_path_as_the_key(tool_of):
    view = mcp_tool(many=True)(Named)
    tool = tool_of(path("places/<int:place>/<str:name>/", view.as_view()))
    assert tool.input_schema["required"] == ["place", "ids"]
    (call,) = tool.bind({"place": 1, "ids": ["a"]}).requests
    assert call.kwargs == {"place": 1, "name": "a"}


class Searched(APIView):
    """Reads a query parameter that is named ids too."""

    def get(self, request, pk) -> Response:
        return Response(request.query_params.getlist("ids"))


def test_a_query_parameter_named_ids_gets_another_name(tool_of):
    view = mcp_tool(many=True, query={"ids": {"type": "string"}})(Searched)
    tool = tool_of(path("searched/<int:pk>/", view.as_view()))
    assert set(tool.input_schema["properties"]) >= {"ids", "ids_query"}
    assert tool.bind({"ids": [1], "ids_query": "x"}).query_string == "ids=x"


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


def test_sample_arguments_have_ids_and_the_equivalent_request_reads_the_first(groups, ids):
    from drf_mcp.tools import registry

    tool = registry.tool(TOOL)
    arguments = sample_arguments(tool)
    assert arguments == {"ids": [Group.objects.order_by("pk").first().pk]}
    request = EquivalentRequest.of_call(tool, {"ids": [7, 8]})
    assert request.path == "/groups/7/"


def test_a_declared_input_schema_may_have_ids(tool_of):
    own = {"type": "object", "properties": {"ids": {"type": "array", "items": {}}}}
    view = type("Own", (Groups,), {"mcp_viewset": None})
    view = mcp_viewset(many=True, input_schema=own)(view)
    tool = tool_of(path("own/<int:pk>/", view.as_view({"get": "retrieve"})))
    assert tool.bind({"ids": [4]}).requests[0].kwargs == {"pk": 4}
