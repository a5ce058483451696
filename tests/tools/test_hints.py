"""Options for models and clients: examples, keywords, ``_meta``, icons."""

from __future__ import annotations

import pytest
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

from drf_mcp.browsable.tool_card import find_field_facts
from drf_mcp.management.tool_reports import find_example_call, write_call
from drf_mcp.test.requests import sample_arguments
from drf_mcp.tools import mcp_tool, mcp_viewset
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


def test_examples_are_a_keyword_if_portable_is_off(tool_of):
    tool = tool_of(make_route(examples=[SOFA], portable=False))
    assert tool.input_schema["examples"] == [SOFA]
    assert "Example" not in tool.description


def test_a_declared_input_schema_is_not_changed(tool_of):
    own = {"type": "object", "properties": {"name": {}}}
    tool = tool_of(make_route(examples=[{"name": "sofa"}], input_schema=own, portable=False))
    assert tool.input_schema == own
    assert 'Example: {"name":"sofa"}' in tool.description


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


def test_an_example_without_its_path_argument_is_left_out(tool_of):
    view = with_options(Pieces, examples=[{"name": "sofa"}])
    tool = tool_of(path("pieces/<int:pk>/", view.as_view()), "pieces_partial_update")
    assert tool.hints.examples == ()
    assert tool.findings[0].message.endswith("id: This argument is required.")


def test_grouped_arguments_have_grouped_examples(tool_of):
    tool = tool_of(make_route(examples=[{"body": SOFA}, SOFA]), ARGUMENTS="grouped")
    assert tool.hints.examples == ({"body": SOFA},)


def test_the_first_example_is_the_sample_call(tool_of):
    tool = tool_of(make_route(examples=[SOFA, {"name": "chair"}]))
    assert tool.hints.call == SOFA
    assert sample_arguments(tool) == SOFA


@pytest.mark.django_db
def test_the_printed_call_has_the_example(expose):
    from drf_mcp.tools import registry

    expose(make_route(examples=[SOFA]))
    tool = registry.tool("furniture_create")
    command = write_call(tool, find_example_call(tool, None))
    assert "name=sofa places=3" in command


def test_keywords_follow_the_description(tool_of):
    tool = tool_of(make_route(keywords=["couch", "settee"], examples=[SOFA]))
    first, second, third = tool.description.splitlines()
    assert first.endswith("Add a piece of furniture.")
    assert second == "Also: couch, settee."
    assert third.startswith("Example: ")


def test_keywords_follow_a_declared_description(tool_of):
    tool = tool_of(make_route(description="Buy something.", keywords=["couch"]))
    assert tool.description == "Buy something.\nAlso: couch."


def test_keywords_are_a_hint_for_hosts_that_search_tools(tool_of):
    tool = tool_of(make_route(title="Buy furniture", keywords=["couch", "settee"]))
    meta = tool.definition(None)["_meta"]
    assert meta == {"anthropic/searchHint": "Buy furniture: couch, settee"}


def test_declared_meta_wins_over_the_options_for_hosts(tool_of):
    tool = tool_of(
        make_route(keywords=["couch"], pinned=True, meta={"anthropic/alwaysLoad": False})
    )
    assert tool.definition(None)["_meta"]["anthropic/alwaysLoad"] is False


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


def test_a_tool_without_hints_has_no_meta_and_no_icons(tool_of):
    definition = tool_of(make_route()).definition(None)
    assert {"icons", "_meta"}.isdisjoint(definition)
    assert definition["description"].endswith("Add a piece of furniture.")
    assert "\n" not in definition["description"]


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


def test_read_only_fields_are_left_out_of_an_example_for_both_directions(tool_of):
    tool = tool_of(make_annotated_route(examples=[OpenApiExample("bed", {"id": 1, "name": "bed"})]))
    assert tool.hints.examples == ({"name": "bed"},)


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


def test_examples_of_mcp_tool_replace_those_of_extend_schema(tool_of):
    written = make_annotated_route(examples=[OpenApiExample("bed", {"name": "bed"})])
    written.callback.cls.mcp_tool = mcp_tool(examples=[SOFA])(Furniture).mcp_tool
    assert tool_of(written).hints.examples == (SOFA,)


def test_an_example_of_the_body_gets_a_sample_key(tool_of):
    class Changed(Pieces):
        @extend_schema(examples=[OpenApiExample("sofa", SOFA, request_only=True)])
        def put(self, request, *args, **kwargs) -> Response:
            return super().put(request, *args, **kwargs)

    tool = tool_of(path("pieces/<int:pk>/", Changed.as_view()), "pieces_update")
    assert tool.hints.call == {"id": 1, **SOFA}


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


def test_an_example_for_a_list_body_is_put_into_a_list(tool_of):
    class Rows(Furniture):
        @extend_schema(
            request=FurnitureSerializer(many=True),
            examples=[OpenApiExample("sofa", SOFA, request_only=True)],
        )
        def post(self, request, *args, **kwargs) -> Response:
            return Response()

    assert tool_of(path("rows/", Rows.as_view())).hints.examples == ({"items": [SOFA]},)


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


def test_examples_of_parameters_are_in_the_schema_of_the_argument(tools_of):
    for portable in [True, False]:
        (tool,) = tools_of(
            path("rooms/<int:room>/", Searched.as_view()), PORTABLE=portable
        ).values()
        properties = tool.input_schema["properties"]
        written = {"style": "baroque", "legs": 4, "room": 7}
        for name, value in written.items():
            if portable:
                assert f"Example: {value}." in properties[name]["description"]
                assert "examples" not in properties[name]
            else:
                assert properties[name]["examples"] == [value]
        assert tool.hints.call == {"room": 7}, portable


def test_a_schema_in_an_option_may_have_examples(tool_of):
    query = {"depth": {"type": "integer", "examples": [2]}}
    tool = tool_of(path("x/", with_options(Searched, query=query).as_view()))
    assert tool.input_schema["properties"]["depth"]["description"] == "Example: 2."


def test_the_form_of_the_browsable_page_has_the_example(tool_of):
    facts = find_field_facts(tool_of(make_route(examples=[SOFA])), {})
    examples = {pointer[1:]: known["example"] for pointer, known in facts.items()}
    assert examples == SOFA
