"""An aggregate runs the view of its list, with its permissions, throttles and filters."""

from __future__ import annotations

import pytest
from django.urls import path
from rest_framework import filters, permissions, throttling

from drf_mcp import mcp_viewset
from drf_mcp.exposure import registry
from tests.contrib.aggregates.journeys import Journey, JourneySerializer, JourneyViewSet, Station

pytestmark = pytest.mark.usefixtures("journeys")
LIST = {"get": "list", "post": "create"}


@pytest.fixture
def serve(journeys, expose, agent_of):
    """Serve a viewset with these members and return a function that asks for its figures."""

    def make(route="journeys/", options=None, **members):
        viewset = type("Own", (JourneyViewSet,), members)
        viewset = mcp_viewset(aggregate=["kind", "passengers"], **options or {})(viewset)
        expose(path(route, viewset.as_view(LIST)))

        def ask(username="carol", **arguments):
            return agent_of(username).call_with("journeys_aggregate", arguments)

        return ask

    return make


def count(result) -> int:
    assert not result.is_error, result.envelope
    return result.data["total"]["count"]


class StaffList(permissions.BasePermission):
    message = "Only staff list journeys."

    def has_permission(self, request, view) -> bool:
        assert (view.action, request.method) == ("list", "GET")
        assert view.action_map.items() >= LIST.items()
        return request.user.is_staff


def test_the_permissions_of_the_list_are_checked(serve):
    ask = serve(permission_classes=[StaffList])
    assert count(ask("carol")) == 70
    refused = ask("alice")
    assert refused.code == "FORBIDDEN"
    assert refused.envelope["error"] == "Only staff list journeys."


def test_a_caller_who_may_not_list_does_not_see_the_aggregate(serve, agent_of):
    serve(permission_classes=[StaffList])
    assert "journeys_aggregate" in agent_of("carol").tools()
    assert "journeys_aggregate" not in agent_of("alice").tools()


def test_fields_that_the_list_leaves_out_make_no_figures(serve, agent_of):
    assert not serve()(group_by=["passengers"], metrics=["count"]).is_error
    ask = serve(options={"omit": ["passengers"]})
    names = agent_of("carol").tools()["journeys_aggregate"]["inputSchema"]["properties"]
    assert "passengers" not in str([names["group_by"], names["metrics"]])
    assert ask(group_by=["passengers"]).is_error
    assert not ask(group_by=["kind"]).is_error


class Hourly(throttling.UserRateThrottle):
    rate = "2/hour"


def test_calls_of_the_list_and_of_its_figures_are_counted_together(serve, http_of):
    ask = serve(throttle_classes=[Hourly])
    assert http_of("carol").get("/journeys/").status_code == 200
    assert count(ask()) == 70
    refused = ask()
    assert refused.code == "RATE_LIMIT_EXCEEDED"
    assert http_of("carol").get("/journeys/").status_code == 429


class Rewritten(JourneySerializer):
    def to_representation(self, journey):
        return {"kind": "any"}


def test_kwargs_of_the_route_choose_the_rows(serve):
    def get_queryset(self):
        return Journey.objects.filter(owner=self.kwargs["owner"])

    ask = serve("<owner>/journeys/", get_queryset=get_queryset)
    owners = ("alice", "bob", "carol")
    assert [count(ask(owner=o)) for o in owners] == [
        Journey.objects.filter(owner=o).count() for o in owners
    ]


class Trains(filters.BaseFilterBackend):
    def filter_queryset(self, request, queryset, view):
        assert view.action == "list"
        return queryset.filter(kind=request.query_params.get("by", "train"))


def test_every_filter_backend_filters(serve):
    ask = serve(filter_backends=[Trains])
    trains = Journey.objects.filter(kind="train").count()
    assert count(ask()) == trains
    assert count(ask(by="ship")) == 70 - trains


# --- Rows -------------------------------------------------------------------------------------


def test_a_row_that_a_filter_joins_several_times_counts_once(serve):
    station = Station.objects.first()
    Journey.objects.update(station=station)

    def get_queryset(self):
        return Journey.objects.filter(station__journeys__passengers__gt=0)

    assert serve(get_queryset=get_queryset)().data["total"] == {"count": 70}


@pytest.mark.slow
def test_each_row_counts_once_for_any_kind_of_queryset(serve, subtests):
    for name, make in {
        "distinct": lambda rows: rows.distinct(),
        "distinct in order": lambda rows: rows.order_by("station__name").distinct(),
        "related": lambda rows: rows.select_related("station").prefetch_related(
            "station__journeys"
        ),
        "deferred": lambda rows: rows.defer("kind").only("owner"),
        "reversed": lambda rows: rows.reverse(),
    }.items():
        with subtests.test(name):
            ask = serve(get_queryset=lambda self, make=make: make(Journey.objects.all()))
            assert count(ask(group_by=["kind"])) == 70


def test_a_sliced_queryset_gives_figures_of_the_slice(serve):
    def get_queryset(self):
        return Journey.objects.order_by("-passengers", "pk")[:7]

    ask = serve(get_queryset=get_queryset, filter_backends=[])
    assert count(ask(group_by=["passengers"])) == 7


NO_GROUPS = {
    "The list is a union of querysets.": lambda rows: rows.union(rows),
    "The rows of the list are values, not objects.": lambda rows: rows.values("kind"),
    "The list is no queryset but list.": list,
    "The queryset of the list has extra(": lambda rows: rows.extra(select={"kind": "1"}),
}


def test_a_list_that_cannot_be_grouped_is_refused_with_the_reason(serve, subtests):
    for reason, make in NO_GROUPS.items():
        with subtests.test(reason):

            def get_queryset(self, make=make):
                return make(Journey.objects.all())

            refused = serve(get_queryset=get_queryset, filter_backends=[])()
            assert refused.code == "VALIDATION_ERROR"
            assert reason in refused.envelope["error"]
            findings = registry.tool("journeys_aggregate").findings
            assert reason.rstrip(".") in " ".join(finding.message for finding in findings)


# --- Plain HTTP requests of the same view -----------------------------------------------------
