"""Tool names are made of the path and the action; they are portable, unique and stable."""

from __future__ import annotations

import re

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.urls import include, path
from rest_framework import generics, viewsets
from rest_framework.decorators import action, api_view
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from drf_mcp.exposure import mcp_tool
from drf_mcp.naming import Naming

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


def test_the_action_is_not_repeated_where_the_path_of_a_generic_view_ends_with_it(tools_of):
    class Added(generics.CreateAPIView): ...

    added = [path("boxes/list/", BoxList.as_view()), path("box-create", Added.as_view())]
    assert set(tools_of(*added)) == {"boxes_list", "boxes_list_create", "box_create"}


def test_a_path_that_ends_with_an_action_takes_no_name_of_another_path(tools_of):
    """Whichever comes first, the shorter path keeps its name."""
    paths = [path("boxes/list/", BoxList.as_view()), path("boxes/", BoxList.as_view())]
    for order in (paths, paths[::-1]):
        tools = tools_of(*order)
        assert tools["boxes_list"].endpoint.route.path == "/boxes/"
        assert tools["boxes_list_list"].endpoint.route.path == "/boxes/list/"


def test_prefixes_for_apis_and_versions_are_left_out(tools_of):
    cases = ["api/", "rest/", "v1/", "api/v2/", "API/v1.2/", "api/rest/v3/"]
    assert [
        prefix for prefix in cases if list(tools_of(path(f"{prefix}ping/", ping))) != ["ping"]
    ] == []


# --- Paths without a noun -----------------------------------------------------------------


def test_a_viewset_at_the_root_of_its_router_is_named_by_its_basename(tools_of):
    for prefix in ["", "api/", "api/v1/", "<slug:tenant>/"]:
        router = SimpleRouter()
        router.register("", Boxes, basename="parcel")
        names = set(tools_of(path(prefix, include(router.urls))))
        assert {"parcel_list", "parcel_retrieve", "parcel_open", "parcel_of_colour"} <= names
        assert all(name.startswith("parcel_") for name in names), prefix


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
    paths = [path(f"{long}-{word}/", ping) for word in ("x", "y")]
    names = list(tools_of(*paths, path("z/", ping)))
    assert len(set(names)) == 3
    assert all(len(name) <= 48 and PORTABLE.match(name) for name in names)


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


def test_names_that_nothing_distinguishes_are_numbered(tools_of):
    tools = tools_of(path("ping/", ping), path("//ping/", ping), path("/ping/", ping))
    assert len(tools) == 3
    assert all(PORTABLE.match(name) for name in tools)


def test_a_declared_name_wins_over_the_name_of_a_path(tools_of):
    tools = tools_of(path("measure/", ping), path("other/", Measure.as_view()))
    assert tools["measure"].endpoint.view_class is Measure
    assert len(tools) == 2


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


class Positions(viewsets.ModelViewSet):
    def bulk_partial_update(self, request): ...


def test_a_name_that_is_too_long_leaves_out_words_from_the_middle(tools_of):
    actions = {"get": "list", "post": "create", "patch": "bulk_partial_update"}
    long = "organizers/events/checkinlists/positions/"
    assert list(tools_of(path(long, Positions.as_view(actions)))) == [
        "organizers_events_checkinlists_positions_list",
        "organizers_events_checkinlists_positions_create",
        "organizers_positions_bulk_partial_update",
    ]


def test_a_name_of_two_words_that_is_too_long_leaves_out_the_first(tools_of):
    actions = {"get": "list", "patch": "bulk_partial_update"}
    assert list(tools_of(path("circuits/virtual-circuit-types/", Positions.as_view(actions)))) == [
        "circuits_virtual_circuit_types_list",
        "virtual_circuit_types_bulk_partial_update",
    ]


def test_a_name_that_is_too_long_leaves_out_the_words_that_all_tools_share(tools_of):
    views = Positions.as_view({"patch": "partial_update"})
    tools = tools_of(
        path("plugins/subsidiaries/events/checkinlists/positions/", views),
        path("plugins/subsidiaries/seats/", views),
    )
    assert list(tools) == [
        "events_checkinlists_positions_partial_update",
        "plugins_subsidiaries_seats_partial_update",
    ]


def test_long_names_that_differ_in_the_middle_alone_have_a_hash_and_their_action(tools_of):
    views = Positions.as_view({"patch": "bulk_partial_update"})
    tools = tools_of(
        path("organizers/events/checkinlists/positions/", views),
        path("organizers/events/waitinglists/positions/", views),
        path("seats/", views),
    )
    assert [re.sub("_[0-9a-f]{6}_", "_HASH_", name) for name in tools] == [
        "organizers_events_che_HASH_bulk_partial_update",
        "organizers_events_wai_HASH_bulk_partial_update",
        "seats_bulk_partial_update",
    ]


def test_what_precedes_the_version_of_an_api_is_left_out(tools_of):
    assert list(tools_of(path("backend/api/v1/ping/", ping))) == ["ping"]


def test_two_apis_with_the_same_paths_keep_what_precedes_them(tools_of):
    tools = tools_of(path("shop/api/v1/ping/", ping), path("crm/api/v1/ping/", ping))
    assert list(tools) == ["shop_api_v1_ping", "crm_api_v1_ping"]


# --- NAMING_CLASS -------------------------------------------------------------------------


class VersionedNaming(Naming):
    def get_name(self, endpoint):
        return self.get_versioned_name(endpoint)


class VerbFirstNaming(Naming):
    def get_candidates(self, endpoint):
        noun, _, verb = self.get_name(endpoint).rpartition("_")
        return f"{verb}_{noun}", f"{verb}_{noun}_by_{'_'.join(endpoint.route.kwargs) or 'all'}"


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
