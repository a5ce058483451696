"""Tool names are made of the path and the action; they are portable, unique and stable."""

from __future__ import annotations

import re

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.urls import include, path
from hypothesis import given
from hypothesis import strategies as st
from rest_framework import generics, viewsets
from rest_framework.decorators import action, api_view
from rest_framework.response import Response
from rest_framework.routers import DefaultRouter, SimpleRouter
from rest_framework.views import APIView

from drf_mcp.tools import Naming, mcp_tool
from drf_mcp.tools.naming import shorten_name, snake_case

PORTABLE = re.compile(r"[a-z][a-z0-9_]{0,47}\Z")


class Boxes(viewsets.ModelViewSet):
    @action(detail=True, methods=["post"])
    def open(self, request, pk=None): ...

    @action(detail=False, url_path="by-colour/(?P<colour>[a-z]+)")
    def of_colour(self, request, colour): ...

    @action(detail=True, methods=["get"], url_path="lid")
    def lid(self, request, pk=None): ...

    @lid.mapping.delete
    def remove_lid(self, request, pk=None): ...


class Reading(viewsets.ViewSet):
    def list(self, request): ...


class BoxList(generics.ListCreateAPIView): ...


class BoxDetail(generics.RetrieveUpdateDestroyAPIView): ...


class Weigh(APIView):
    def post(self, request): ...


class Scale(APIView):
    def get(self, request): ...

    def post(self, request): ...


@api_view(["GET"])
def ping(request) -> Response: ...


@api_view(["GET", "POST"])
def echo(request) -> Response: ...


@mcp_tool(name="measure")
class Measure(Weigh): ...


@mcp_tool(name="measure")
class MeasureAgain(Weigh): ...


def make_urls(prefix: str, viewset=Boxes, router=SimpleRouter) -> list:
    made = router()
    made.register(prefix, viewset, basename="thing")
    return made.urls


def test_a_viewset_is_named_by_path_and_action(tools_of):
    assert set(tools_of(*make_urls("boxes"))) == {
        "boxes_list",
        "boxes_create",
        "boxes_retrieve",
        "boxes_update",
        "boxes_partial_update",
        "boxes_destroy",
        "boxes_open",
        "boxes_of_colour",
        "boxes_lid",
        "boxes_remove_lid",
    }


def test_generic_views_are_named_like_viewsets(tools_of):
    tools = tools_of(
        path("boxes/", BoxList.as_view()), path("boxes/<int:pk>/", BoxDetail.as_view())
    )
    assert list(tools) == [
        "boxes_list",
        "boxes_create",
        "boxes_retrieve",
        "boxes_update",
        "boxes_partial_update",
        "boxes_destroy",
    ]


def test_a_plain_view_with_one_method_is_named_by_its_path(tools_of):
    tools = tools_of(path("weigh/", Weigh.as_view()), path("ping/", ping))
    assert list(tools) == ["weigh", "ping"]


def test_methods_of_a_plain_view_have_the_method_in_their_names(tools_of):
    tools = tools_of(path("scale/", Scale.as_view()), path("echo/", echo))
    assert list(tools) == ["scale_get", "scale_post", "echo_get", "echo_post"]


def test_prefixes_for_apis_and_versions_are_left_out(tools_of):
    cases = ["api/", "rest/", "v1/", "api/v2/", "API/v1.2/", "api/rest/v3/"]
    assert [
        prefix for prefix in cases if list(tools_of(path(f"{prefix}ping/", ping))) != ["ping"]
    ] == []


def test_a_format_suffix_makes_no_further_tools(tools_of):
    tools = tools_of(*make_urls("reading", Reading, DefaultRouter))
    assert list(tools) == ["reading_list"]


# --- Paths without a noun -----------------------------------------------------------------


def test_a_viewset_at_the_root_of_its_router_is_named_by_its_basename(tools_of):
    for prefix in ["", "api/", "api/v1/", "<slug:tenant>/"]:
        router = SimpleRouter()
        router.register("", Boxes, basename="parcel")
        names = set(tools_of(path(prefix, include(router.urls))))
        assert {"parcel_list", "parcel_retrieve", "parcel_open", "parcel_of_colour"} <= names
        assert all(name.startswith("parcel_") for name in names), prefix


def test_a_route_nested_below_a_root_is_named_by_its_own_prefix(tools_of):
    router = SimpleRouter()
    router.register("", Boxes, basename="parcel")
    nested = SimpleRouter()
    nested.register(r"(?P<parcel_pk>[0-9]+)/readings", Reading, basename="parcel-readings")
    names = set(tools_of(*router.urls, *nested.urls))
    assert {"parcel_list", "readings_list"} <= names


def test_a_viewset_without_a_basename_is_named_by_its_class(tools_of):
    for class_name, name in [
        ("PostViewSet", "post_list"),
        ("PostViewset", "post_list"),
        ("PostAPIView", "post_list"),
        ("PostSet", "post_set_list"),
        ("ViewSet", "view_set_list"),
    ]:
        viewset = type(class_name, (Reading,), {})
        assert list(tools_of(path("", viewset.as_view({"get": "list"})))) == [name]


def test_a_generic_view_at_the_root_is_named_by_its_class_and_action(tools_of):
    for class_name in ["Post", "PostList", "PostListCreateAPIView", "PostDetail"]:
        view = type(class_name, (generics.ListCreateAPIView,), {})
        assert list(tools_of(path("", view.as_view()))) == ["post_list", "post_create"], class_name


def test_a_plain_view_at_the_root_is_named_by_its_whole_class_name(tools_of):
    view = type("ShoppingList", (Weigh,), {})
    assert list(tools_of(path("", view.as_view()))) == ["shopping_list"]


def test_a_function_at_the_root_is_named_without_its_suffix(tools_of):
    @api_view(["GET"])
    def search_view(request) -> Response: ...

    assert list(tools_of(path("", search_view))) == ["search"]


def test_two_versions_of_a_root_have_version_and_basename(tools_of):
    boxes = make_urls("", Reading)
    tools = tools_of(path("v1/", include(boxes)), path("v2/", include(make_urls("", Reading))))
    assert list(tools) == ["v1_thing_list", "v2_thing_list"]


def test_any_path_segment_becomes_a_portable_name(tools_of):
    for segment, name in [
        ("purchaseOrders", "purchase_orders"),
        ("a.b~c", "a_b_c"),
        ("2024", "tool_2024"),
        ("größe", "gr_e"),
        ("日本", "ping"),
    ]:
        assert list(tools_of(path(f"{segment}/", ping))) == [name]


def test_a_long_name_is_cut_to_48_characters_and_stays_unique(tools_of):
    long = "a-very-long-segment-that-goes-on-and-on-and-on-and-on"
    names = list(tools_of(path(f"{long}/x/", ping), path(f"{long}/y/", ping)))
    assert len(set(names)) == 2
    assert all(len(name) == 48 and PORTABLE.match(name) for name in names)


# --- Equal names --------------------------------------------------------------------------


def test_two_versions_of_a_path_keep_their_version(tools_of):
    tools = tools_of(path("api/v1/ping/", ping), path("api/v2/ping/", ping))
    assert list(tools) == ["v1_ping", "v2_ping"]


def test_two_keys_of_a_path_are_named_by_the_key(tools_of):
    tools = tools_of(path("ping/<int:pk>/", ping), path("ping/by/<slug:slug>/", ping))
    assert list(tools) == ["ping", "ping_by"]
    tools = tools_of(path("ping/<int:pk>/", ping), path("ping/<slug:slug>/", ping))
    assert list(tools) == ["ping_by_pk", "ping_by_slug"]


class Shelf(viewsets.ViewSet):
    @action(detail=True, methods=["get", "post"])
    def photos(self, request, pk=None, version=None): ...


def test_two_methods_of_an_action_are_named_by_the_method(tools_of):
    for prefix in ["", "v1/"]:
        tools = tools_of(path(prefix, include(make_urls("shelves", Shelf))))
        assert {tool.endpoint.method: name for name, tool in tools.items()} == {
            "GET": "shelves_photos_get",
            "POST": "shelves_photos_post",
        }


def test_a_path_without_parameters_keeps_the_short_name(tools_of):
    tools = tools_of(path("boxes/", ping), path("rooms/", ping), path("boxes/<int:room>/", ping))
    assert list(tools) == ["boxes", "rooms", "boxes_by_room"]


def test_a_longer_name_is_not_the_name_of_another_tool(tools_of):
    tools = tools_of(path("boxes/", Scale.as_view()), path("boxes/<int:room>/", Scale.as_view()))
    again = tools_of(
        path("boxes/", ping),
        path("boxes/<int:room>/", ping),
        path("boxes/by/room/", ping),
    )
    assert len(set(tools)) == 4
    assert {tool.endpoint.route.path: name for name, tool in again.items()} == {
        "/boxes/": "boxes",
        "/boxes/{room}/": "boxes_get",
        "/boxes/by/room/": "boxes_by_room",
    }


def test_names_that_nothing_distinguishes_are_numbered(tools_of):
    tools = tools_of(path("ping/", ping), path("//ping/", ping), path("/ping/", ping))
    assert len(tools) == 3
    assert all(PORTABLE.match(name) for name in tools)


def test_a_declared_name_wins_over_the_name_of_a_path(tools_of):
    tools = tools_of(path("measure/", ping), path("other/", Measure.as_view()))
    assert tools["measure"].endpoint.view_class is Measure
    assert len(tools) == 2


def test_a_name_does_not_depend_on_other_tools(tools_of):
    alone = list(tools_of(*make_urls("boxes")))
    among = list(tools_of(*make_urls("boxes"), path("ping/", ping), *make_urls("new", Reading)))
    assert among[: len(alone)] == alone


def test_the_same_declared_name_for_two_tools_is_an_error_with_both_places(tools_of):
    with pytest.raises(ImproperlyConfigured) as caught:
        tools_of(path("a/", Measure.as_view()), path("b/", MeasureAgain.as_view()))
    message = str(caught.value)
    assert "'measure'" in message
    assert f"{__name__}.Measure.post (/a/)" in message
    assert f"{__name__}.MeasureAgain.post (/b/)" in message


def test_a_declared_name_that_is_not_portable_is_an_error(tools_of):
    for name in ["Measure", "1st", "_x", "a-b", "a.b", "a b", "ä", "a" * 65]:
        view = mcp_tool(name=name)(type("Own", (Weigh,), {"__module__": __name__}))
        with pytest.raises(ImproperlyConfigured, match=r"not portable") as caught:
            tools_of(path("own/", view.as_view()))
        assert f"{__name__}.Own.post" in str(caught.value), name


def test_a_declared_name_may_have_64_characters(tools_of):
    view = mcp_tool(name="a" * 64)(type("Own", (Weigh,), {}))
    assert list(tools_of(path("own/", view.as_view()))) == ["a" * 64]


@given(st.text())
def test_snake_case_gives_an_identifier_or_nothing(text):
    assert re.fullmatch(r"[a-z0-9_]*", snake_case(text))


@given(
    st.from_regex(r"[a-z][a-z0-9_]{0,120}", fullmatch=True), st.sampled_from(["", "list", "x" * 90])
)
def test_a_shortened_name_is_portable_with_any_action(base, action):
    assert PORTABLE.match(shorten_name(f"{base}_{action}", ending=action))


def test_a_shortened_name_keeps_its_action(tools_of):
    class Positions(viewsets.ModelViewSet):
        def bulk_partial_update(self, request): ...

    actions = {"get": "list", "post": "create", "patch": "bulk_partial_update"}
    long = "organizers/events/checkinlists/positions/of/every/kind/"
    tools = tools_of(path(long, Positions.as_view(actions)))
    assert [re.sub("_[0-9a-f]{6}_", "_HASH_", name) for name in tools] == [
        "organizers_events_checkinlists_posit_HASH_list",
        "organizers_events_checkinlists_pos_HASH_create",
        "organizers_events_che_HASH_bulk_partial_update",
    ]


# --- NAMING_CLASS -------------------------------------------------------------------------


class VersionedNaming(Naming):
    def get_name(self, endpoint):
        return self.get_versioned_name(endpoint)


class VerbFirstNaming(Naming):
    def get_candidates(self, endpoint):
        noun, _, verb = self.get_name(endpoint).rpartition("_")
        return f"{verb}_{noun}", f"{verb}_{noun}_by_{'_'.join(endpoint.route.kwargs) or 'all'}"


def test_patterns_match_the_names_of_the_naming_class(tools_of):
    patterns = (path("v1/boxes/", BoxList.as_view()), path("v2/boxes/", BoxList.as_view()))
    tools = tools_of(*patterns, NAMING_CLASS=VersionedNaming, EXCLUDE=["v1_*"])
    assert list(tools) == ["v2_boxes_list", "v2_boxes_create"]


def test_candidates_of_the_naming_class_distinguish_tools(tools_of):
    boxes = BoxList.as_view()
    tools = tools_of(
        path("boxes/<int:pk>/", boxes), path("boxes/", boxes), NAMING_CLASS=VerbFirstNaming
    )
    assert list(tools) == [
        "list_boxes_by_pk",
        "create_boxes_by_pk",
        "list_boxes_by_all",
        "create_boxes_by_all",
    ]
