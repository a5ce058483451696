"""Titles, descriptions and hints: the declaration nearest to the action is used."""

from __future__ import annotations

import pytest
from django.db import models
from django.urls import path
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, viewsets
from rest_framework.decorators import action, api_view
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from drf_mcp.exposure import mcp_tool
from drf_mcp.introspection.spectacular import LOCK

HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


class Item(models.Model):  # noqa: DJ008 - never stored
    class Meta:
        app_label = "tests"
        managed = False
        verbose_name = "item of a kind"
        verbose_name_plural = "items"


class ItemSerializer(serializers.ModelSerializer):
    class Meta:
        model = Item
        fields = ["id"]


class Bare(viewsets.ModelViewSet):
    queryset = Item.objects.none()
    serializer_class = ItemSerializer

    @action(detail=True, methods=["post"])
    def wrap_up(self, request, pk=None): ...

    @action(detail=False)
    def newest(self, request): ...


class Documented(Bare):
    """Things on shelves."""

    def list(self, request):
        """Show what is there."""


class Said(Documented):
    schema = AutoSchema()

    @mcp_tool(description="Use this to look around.", title="Look around")
    @extend_schema(description="From the schema.")
    def list(self, request):
        """Show what is there."""

    @extend_schema(description="Put a thing on a shelf.")
    def create(self, request):
        """Not used."""


class Wordless(APIView):
    def get(self, request): ...

    def post(self, request): ...


@api_view(["GET"])
def told(request) -> Response:
    """Tell a story."""


@api_view(["GET"])
def untold(request) -> Response: ...


@pytest.fixture
def items_of(tools_of):
    def tools(viewset):
        router = SimpleRouter()
        router.register("items", viewset, basename="item")
        return tools_of(*router.urls)

    return tools


def test_a_title_is_the_verb_and_the_verbose_name_of_the_model(items_of):
    cases = [
        ("items_list", "List items"),
        ("items_retrieve", "Get one item of a kind"),
        ("items_create", "Create an item of a kind"),
        ("items_partial_update", "Change fields of an item of a kind"),
        ("items_wrap_up", "Wrap up an item of a kind"),
    ]
    found = [items_of(Bare)[name].title for name, _ in cases]
    assert found == [title for _, title in cases]


def test_without_a_model_the_title_is_the_name(tools_of):
    tools = tools_of(path("price/now/", untold))
    assert tools["price_now"].title == "Price now"


def test_the_nearest_description_is_used(items_of):
    cases = [
        (Said, "items_list", "Use this to look around."),
        (Said, "items_create", "Put a thing on a shelf."),
        (Documented, "items_list", "Show what is there."),
        (Documented, "items_create", "Add or register a new item of a kind."),
        (Bare, "items_create", "Add or register a new item of a kind."),
    ]
    found = [items_of(viewset)[name].description for viewset, name, _ in cases]
    assert found == [description for _, _, description in cases]


class Shared(Bare):
    @action(detail=False, methods=["get", "delete"])
    def me(self, request): ...

    @action(detail=True, methods=["get", "post"])
    def notes(self, request, pk=None):
        """Remarks about it."""

    @action(detail=True)
    def lid(self, request, pk=None):
        """Look at it."""

    @lid.mapping.delete
    def remove_lid(self, request, pk=None): ...


def test_methods_of_one_action_have_different_titles_and_descriptions(items_of):
    for name, title, description in [
        ("items_me_get", "Get the caller's item of a kind", "Get the caller's item of a kind."),
        (
            "items_me_delete",
            "Delete the caller's item of a kind",
            "Delete the caller's item of a kind.",
        ),
        ("items_notes_get", "Notes of an item of a kind", "Get: Remarks about it."),
        ("items_notes_post", "Add notes to an item of a kind", "Post: Remarks about it."),
        ("items_lid", "Lid of an item of a kind", "Look at it."),
    ]:
        tool = items_of(Shared)[name]
        assert (tool.title, tool.description) == (title, description)


def test_annotations_depend_on_the_method_and_the_action(items_of):
    for name, hints in [
        ("items_list", (True, False, True, False)),
        ("items_create", (False, False, False, False)),
        ("items_update", (False, True, True, False)),
        ("items_partial_update", (False, True, False, False)),
        ("items_destroy", (False, True, True, False)),
        ("items_wrap_up", (False, True, False, False)),
    ]:
        annotations = items_of(Bare)[name].annotations
        assert tuple(annotations[hint] for hint in HINTS) == hints


def test_a_declared_annotation_is_used(tools_of):
    for option, hint in [
        ("read_only", "readOnlyHint"),
        ("destructive", "destructiveHint"),
        ("idempotent", "idempotentHint"),
        ("open_world", "openWorldHint"),
    ]:
        for value in [True, False]:
            view = mcp_tool(**{option: value})(type("View", (Wordless,), {}))
            tools = tools_of(path("x/", view.as_view())).values()
            assert {tool.annotations[hint] for tool in tools} == {value}


def test_a_description_has_no_character_that_hides_text(tools_of):
    class Paying(APIView):
        def post(self, request):
            return Response({})

        post.__doc__ = "Pay \x1b[31mnow\x00 \u202e."

    tool = tools_of(path("pay/", Paying.as_view()))["pay"]
    assert not set(tool.description) & set("\x00\x1b\u202e")


def test_a_long_description_is_cut_and_keeps_its_example(tools_of):
    @mcp_tool(examples=[{"amount": 1}])
    class Paying(APIView):
        """Pays."""

        def post(self, request):
            return Response({})

        post.__doc__ = "One more sentence of it. " * 60

    tool = tools_of(path("pay/", Paying.as_view()))["pay"]
    assert len(tool.description) <= 1024
    assert tool.description.startswith("One more sentence")


def test_a_generic_view_without_a_serializer_is_described_in_silence(tools_of, capfd):
    class Emptied(generics.DestroyAPIView):
        queryset = Item.objects.none()
        schema = AutoSchema()

    (tool,) = tools_of(path("items/<int:pk>/", Emptied.as_view())).values()
    assert [*tool.input_schema["properties"]] == ["pk"]
    assert capfd.readouterr() == ("", "")


def test_drf_spectacular_is_silenced_by_one_thread_at_a_time(tools_of):
    """Else two threads leave it silent, also for the project's own schema."""
    alone = []

    class Watching(generics.CreateAPIView):
        serializer_class = ItemSerializer
        schema = AutoSchema()

        def get_serializer(self, *args, **kwargs):
            if GENERATOR_STATS.silent:
                alone.append(LOCK._is_owned())
            return super().get_serializer(*args, **kwargs)

    (tool,) = tools_of(path("items/", Watching.as_view())).values()
    assert tool.input_schema
    assert alone
    assert all(alone)
