"""Options for models and clients: examples, keywords, ``_meta``, icons."""

from __future__ import annotations

from django.contrib.auth.models import Group
from django.test import Client
from django.urls import path
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiRequest,
    extend_schema,
    extend_schema_serializer,
)
from rest_framework import generics, serializers, viewsets
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.exposure import mcp_tool, mcp_viewset
from drf_mcp.test.requests import sample_arguments
from tests.agents import REVISIONS, Agent

SOFA = {"name": "sofa", "places": 3}
ICONS = [{"src": "https://shop.example/sofa.png", "mimeType": "image/png", "sizes": ["48x48"]}]
META = {"com.example/team": "sales"}


class FurnitureSerializer(serializers.Serializer):
    id = serializers.IntegerField(read_only=True)
    name = serializers.CharField()
    places = serializers.IntegerField(required=False)


class Furniture(generics.CreateAPIView):
    """Add a piece of furniture."""

    permission_classes = []
    serializer_class = FurnitureSerializer

    def perform_create(self, serializer) -> None:
        pass


class Pieces(generics.RetrieveUpdateAPIView):
    """One piece of furniture."""

    permission_classes = []
    serializer_class = FurnitureSerializer
    queryset = Group.objects.all()


def with_options(view, **options):
    return mcp_tool(**options)(type("Own", (view,), {"__doc__": view.__doc__}))


def make_route(**options):
    return path("furniture/", with_options(Furniture, **options).as_view())


def test_examples_are_in_the_description_as_compact_json(tool_of):
    tool = tool_of(make_route(examples=[SOFA, {"name": "Stühle"}]))
    assert tool.description.splitlines()[1:] == [
        'Example: {"name":"sofa","places":3}',
        'Example: {"name":"Stühle"}',
    ]
    assert "examples" not in tool.input_schema


def test_an_example_that_would_be_refused_is_left_out_and_a_finding(tool_of):
    for example, words in [
        ({"name": "sofa", "legs": 4}, "legs: Unknown argument."),
        ({"name": "sofa", "id": 4}, "id: This argument is read-only."),
    ]:
        tool = tool_of(make_route(examples=[example, SOFA]))
        assert tool.hints.examples == (SOFA,), example
        (finding,) = tool.findings
        assert finding.message == f"An example of furniture_create is left out: {words}"
        assert "examples=" in finding.remedy, example


def test_the_first_example_is_the_sample_call(tool_of):
    tool = tool_of(make_route(examples=[SOFA, {"name": "chair"}]))
    assert tool.hints.call == SOFA
    assert sample_arguments(tool) == SOFA


def test_keywords_follow_the_description(tool_of):
    tool = tool_of(make_route(keywords=["couch", "settee"], examples=[SOFA]))
    first, second, third = tool.description.splitlines()
    assert first.endswith("Add a piece of furniture.")
    assert second == "Also: couch, settee."
    assert third.startswith("Example: ")


class Shelves(viewsets.ReadOnlyModelViewSet):
    permission_classes = []
    queryset = Group.objects.all()
    serializer_class = FurnitureSerializer


def test_meta_and_icons_are_listed_in_the_revisions_that_have_them(expose):
    """Those of a view set are those of all its tools. The agent validates each list."""
    view = mcp_viewset(meta=META, icons=ICONS)(type("Own", (Shelves,), {}))
    expose(
        path("shelves/", view.as_view({"get": "list"})),
        path("shelves/<int:pk>/", view.as_view({"get": "retrieve"})),
    )
    for revision in REVISIONS:
        tools = Agent(Client(), revision=revision).tools()
        assert set(tools) == {"shelves_list", "shelves_retrieve"}, revision
        for tool in tools.values():
            assert tool.get("_meta") == (META if revision >= "2025-06-18" else None)
            assert tool.get("icons") == (ICONS if revision >= "2025-11-25" else None)


# --- Examples for drf-spectacular ------------------------------------------------------------


def make_annotated_route(**options):
    class Annotated(Furniture):
        @extend_schema(**options)
        def post(self, request, *args, **kwargs) -> Response:
            return super().post(request, *args, **kwargs)

    return path("furniture/", Annotated.as_view())


def test_request_examples_of_extend_schema_are_used(tool_of):
    examples = [
        OpenApiExample("answer", {"id": 1, "name": "bed"}, response_only=True),
        OpenApiExample("sofa", SOFA, request_only=True),
        OpenApiExample("chair", {"name": "chair"}),
    ]
    tool = tool_of(make_annotated_route(examples=examples))
    assert tool.hints.examples == (SOFA,)
    assert tool.description.endswith('Example: {"name":"sofa","places":3}')


def test_examples_that_are_too_long_or_no_arguments_are_not_used(tool_of):
    for examples in [
        [OpenApiExample("xml", "<sofa/>", media_type="application/xml")],
        [OpenApiExample("elsewhere", external_value="https://example.com/sofa.json")],
        [OpenApiExample("long", {"name": "x" * 400})],
        [OpenApiExample("other", {"legs": 4})],
    ]:
        tool = tool_of(make_annotated_route(examples=examples))
        assert tool.hints.examples == (), examples
        assert not tool.findings, examples


def test_examples_of_a_serializer_and_of_a_request_are_used(tool_of):
    @extend_schema_serializer(examples=[OpenApiExample("sofa", SOFA, request_only=True)])
    class Shown(FurnitureSerializer):
        pass

    class OfSerializer(Furniture):
        serializer_class = Shown

        @extend_schema(summary="Add")
        def post(self, request, *args, **kwargs) -> Response:
            return super().post(request, *args, **kwargs)

    assert tool_of(path("x/", OfSerializer.as_view())).hints.examples == (SOFA,)
    request = OpenApiRequest(FurnitureSerializer, examples=[OpenApiExample("sofa", SOFA)])
    assert tool_of(make_annotated_route(request=request)).hints.examples == (SOFA,)


class Searched(APIView):
    """Find furniture."""

    permission_classes = []

    @extend_schema(
        parameters=[
            OpenApiParameter("style", str, examples=[OpenApiExample("old", "baroque")]),
            OpenApiParameter("legs", int),
            OpenApiParameter("room", int, OpenApiParameter.PATH),
        ],
        examples=[
            OpenApiExample("four", 4, parameter_only=("legs", "query")),
            OpenApiExample("hall", 7, parameter_only=("room", "path")),
        ],
    )
    def get(self, request, room) -> Response:
        return Response()
