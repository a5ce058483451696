"""The tool ``lists_aggregate`` gives the figures of every list that declares none."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.urls import path
from djangorestframework_camel_case.render import CamelCaseJSONRenderer
from rest_framework import permissions, serializers, throttling, viewsets
from rest_framework.response import Response

from drf_mcp import mcp_viewset
from drf_mcp.tools import registry
from tests.contrib.aggregates.journeys import (
    Journey,
    JourneySerializer,
    JourneyViewSet,
)
from tests.contrib.tokens.holders import make_holder

pytestmark = pytest.mark.usefixtures("journeys")


class PlainViewSet(JourneyViewSet):
    """Journeys without declared figures."""


@pytest.fixture
def serve(journeys, expose, agent_of):
    """Serve a viewset with these members and return a function that asks for its figures."""

    def serve(options=None, mcp_settings=None, **members):
        viewset = mcp_viewset(aggregate=[], **(options or {}))(
            type("Own", (PlainViewSet,), members)
        )
        urls = path("journeys/", viewset.as_view({"get": "list"}))
        expose(urls, **{"AGGREGATES": "auto", **(mcp_settings or {})})

        def ask(username="carol", tool="journeys_list", **arguments):
            return agent_of(username).call_with("lists_aggregate", {"tool": tool, **arguments})

        return ask

    return serve


def suggested_keys(result) -> set[str]:
    """Return the keys that the refusal of a key suggests."""
    (problem,) = result.problems
    return set(problem["message"].partition("Choose from: ")[2].rstrip(".").split(", "))


# --- Groups, metrics and filters ----------------------------------------------------------


def test_rows_are_counted_by_a_choice(serve):
    result = serve()(group_by=["kind"])
    counts = {group["kind"]: group["count"] for group in result.data["groups"]}
    assert counts == {k: Journey.objects.filter(kind=k).count() for k in ("train", "ship")}


def test_filters_of_the_list_choose_the_rows(serve):
    result = serve()(filters={"kind": ["train"]})
    assert result.data["total"] == {"count": Journey.objects.filter(kind="train").count()}


def test_filters_may_be_a_json_text(serve):
    result = serve()(filters=json.dumps({"kind": ["train"]}))
    assert result.data["total"]["count"] == Journey.objects.filter(kind="train").count()


def test_amounts_are_summed_up_by_the_month(serve):
    result = serve()(group_by=["day_month"], metrics=["sum_passengers"], order="group", limit=2)
    assert [set(group) for group in result.data["groups"]] == [{"day_month", "sum_passengers"}] * 2
    assert result.data["has_more"] is True


def test_rows_are_grouped_by_the_names_of_related_objects(serve):
    result = serve()(group_by=["station_name"])
    assert {group["station_name"] for group in result.data["groups"]} >= {"Bern", "Ulm"}


def test_the_definition_takes_few_tokens(serve, agent_of):
    serve()
    tools = {tool["name"]: tool for tool in agent_of("carol").result("tools/list")["tools"]}
    assert set(tools) == {"journeys_list", "lists_aggregate"}
    # Four characters a token.
    assert len(json.dumps(tools["lists_aggregate"])) / 4 < 340


def test_the_tool_exists_only_with_the_setting(serve, agent_of):
    serve(mcp_settings={"AGGREGATES": "declared"})
    assert [t["name"] for t in agent_of("carol").result("tools/list")["tools"]] == ["journeys_list"]


def test_a_list_that_declares_its_figures_keeps_its_own_tool(serve, agent_of, expose):
    serve()
    plain = mcp_viewset(aggregate=["kind"], name="trips")(type("Trips", (PlainViewSet,), {}))
    expose(
        path("journeys/", PlainViewSet.as_view({"get": "list"})),
        path("trips/", plain.as_view({"get": "list"})),
        AGGREGATES="auto",
        EXPOSE="urlconf",
    )
    assert "trips_aggregate" in registry.tools()
    refused = agent_of("carol").call_with("lists_aggregate", {"tool": "trips_list"})
    assert refused.problems[0]["pointer"] == "/tool"
    assert refused.problems[0]["remediation"] == "Call trips_aggregate."


# --- Refusals -----------------------------------------------------------------------------


def test_a_wrong_filter_is_located_among_the_filters(serve):
    result = serve()(filters={"colour": "red"})
    assert result.problems[0]["pointer"] == "/filters/colour"
    assert result.envelope["error"].startswith("filters.colour: ")


def test_a_list_with_its_own_handler_is_refused_and_its_tool_named(expose, agent_of):
    class Own(PlainViewSet):
        def list(self, request):
            return Response([])

    own = path("own/", Own.as_view({"get": "list"}), name="own")
    expose(
        path("journeys/", PlainViewSet.as_view({"get": "list"})),
        own,
        AGGREGATES="auto",
        EXPOSE="urlconf",
        INCLUDE=["*"],
    )
    (name,) = set(registry.tools()) & {"own", "own_list"}
    refused = agent_of("carol").call_with("lists_aggregate", {"tool": name})
    assert refused.problems[0]["remediation"] == f"Call {name} itself."


def test_a_wrong_key_is_located_in_group_by(serve):
    assert serve()(group_by=["colour"]).problems[0]["pointer"].startswith("/group_by")


def test_an_unknown_list_is_answered_with_the_nearest(serve):
    result = serve()(tool="journey_list")
    assert result.problems[0]["remediation"] == "Did you mean journeys_list?"


@pytest.mark.parametrize(
    ("sent", "pointer"),
    [
        ({}, "/tool"),
        ({"tool": 5}, "/tool"),
        ({"tool": "journeys_list", "filters": 5}, "/filters"),
        ({"tool": "journeys_list", "filters": {"limit": 1}}, "/filters"),
        ({"tool": "journeys_list", "colour": "red"}, "/colour"),
    ],
)
def test_malformed_arguments_are_located(serve, agent_of, sent, pointer):
    serve()
    result = agent_of("carol").call_with("lists_aggregate", sent)
    assert result.problems[0]["pointer"] == pointer


def test_a_wrong_filter_sent_through_tools_read_is_located(serve, agent_of):
    serve(mcp_settings={"TOOL_SEARCH": True})
    inner = {"tool": "journeys_list", "filters": {"colour": "red"}}
    sent = {"name": "lists_aggregate", "arguments": inner}
    refused = agent_of("carol").call_with("tools_read", sent)
    assert refused.problems[0]["pointer"] == "/arguments/filters/colour"


def test_free_text_makes_no_groups(serve):
    known = suggested_keys(serve()(group_by=["owner"]))
    assert {"kind", "station", "is_return", "day_week"} <= known
    assert known.isdisjoint({"owner", "code", "address", "id", "passengers"})


def test_the_tool_is_missing_where_every_list_has_its_own_handler(serve, agent_of):
    def list(self, request):
        raise AssertionError

    ask = serve(list=list)
    with pytest.raises(AssertionError, match="Unknown tool"):
        ask()


# --- No more than paging would show -----------------------------------------------------------


def test_only_rows_of_the_callers_list_count(serve):
    result = serve()("alice", group_by=["kind"])
    assert result.data["total"]["count"] == Journey.objects.filter(owner="alice").count()


def test_a_field_that_is_not_shown_to_the_caller_is_no_key(serve):
    def get_serializer_class(self):
        shown = ["id", "kind", *(["stars", "price"] if self.request.user.is_staff else [])]
        meta = type("Meta", (), {"model": Journey, "fields": shown})
        return type("Shown", (serializers.ModelSerializer,), {"Meta": meta})

    ask = serve(get_serializer_class=get_serializer_class)
    assert not ask("carol", group_by=["stars"], metrics=["sum_price"]).is_error
    assert suggested_keys(ask("alice", group_by=["stars"])) == {"kind"}
    assert "price" not in str(suggested_keys(ask("alice", metrics=["sum_price"])))


def test_a_field_that_is_computed_is_no_key(serve):
    class Computed(JourneySerializer):
        kind = serializers.SerializerMethodField()

        def get_kind(self, journey):
            return "secret"

    assert "kind" not in suggested_keys(serve(serializer_class=Computed)(group_by=["kind"]))


def test_an_untrusted_field_is_no_key(serve):
    result = serve({"untrusted": ["station_name"]})(group_by=["station_name"])
    assert "country" in suggested_keys(result)
    assert "station_name" not in suggested_keys(result)


class EveryoneButAlice(permissions.BasePermission):
    def has_permission(self, request, view):
        return request.user.username != "alice"


def test_a_caller_who_may_not_list_has_no_figures(serve):
    ask = serve(permission_classes=[EveryoneButAlice])
    assert ask("alice").code == "FORBIDDEN"
    assert not ask("carol").is_error


class OnceADay(throttling.UserRateThrottle):
    rate = "1/day"


def test_the_throttle_of_the_list_counts(serve):
    ask = serve(throttle_classes=[OnceADay])
    assert not ask().is_error
    assert ask().code == "RATE_LIMIT_EXCEEDED"


@pytest.mark.parametrize(("opened", "code"), [("journeys_list", None), ("others_*", "FORBIDDEN")])
def test_a_token_that_opens_the_list_opens_its_figures(serve, opened, code):
    serve(
        mcp_settings={
            "AUTHENTICATION_CLASSES": [
                "drf_mcp.contrib.tokens.authentication.AgentTokenAuthentication"
            ]
        }
    )
    agent = make_holder(User.objects.get(username="carol"), tools=[opened])
    result = agent.call_with("lists_aggregate", {"tool": "journeys_list"})
    assert (result.code if result.is_error else None) == code


def test_the_filter_queryset_method_of_the_list_runs(serve):
    def filter_queryset(self, queryset):
        return viewsets.ModelViewSet.filter_queryset(self, queryset).filter(kind="ship")

    result = serve(filter_queryset=filter_queryset)()
    assert result.data["total"]["count"] == Journey.objects.filter(kind="ship").count()


def test_a_refused_filter_is_answered_with_the_names_of_filters(serve):
    (problem,) = serve()(filters={"colour": "red"}).problems
    assert "kind" in problem["remediation"]
    assert "group_by" not in problem["remediation"]


# --- Layouts and names --------------------------------------------------------------------


def test_an_argument_sent_as_a_filter_is_suggested_outside_of_the_filters(serve):
    (problem,) = serve()(filters={"groupby": ["kind"]}).problems
    assert problem["remediation"] == "Did you mean 'group_by'? Send it outside of the filters."
    (problem,) = serve()(filters={"kin": ["train"]}).problems
    assert problem["remediation"] == "Did you mean 'kind'?"


def test_filters_may_have_the_grouped_layout(serve):
    ask = serve(mcp_settings={"ARGUMENTS": "grouped"})
    result = ask(filters={"query": {"kind": ["train"]}}, group_by=["kind"], order="group")
    assert [group["kind"] for group in result.data["groups"]] == ["train"]
    (problem,) = ask(filters={"query": {"kind": ["train"]}}, group_by=["owner_name"]).problems
    assert problem["pointer"] == "/group_by/0"


def test_a_path_argument_may_have_the_name_of_an_argument_of_the_tool(expose, agent_of):
    class Ordered(PlainViewSet):
        def get_queryset(self):
            return super().get_queryset().filter(kind=self.kwargs["order"])

    viewset = mcp_viewset(aggregate=[])(Ordered)
    url = path("<str:order>/journeys/", viewset.as_view({"get": "list"}))
    expose(url, AGGREGATES="auto")
    sent = {"tool": "journeys_list", "filters": {"order": "train"}, "order": "group"}
    result = agent_of("carol").call_with("lists_aggregate", sent)
    assert result.data["total"]["count"] == Journey.objects.filter(kind="train").count()


CAMEL = {"renderer_classes": [CamelCaseJSONRenderer]}


@pytest.mark.parametrize("key", ["stationName", "station_name"])
def test_fields_have_the_names_that_rows_show(serve, key):
    result = serve(**CAMEL)(group_by=[key])
    assert {group["stationName"] for group in result.data["groups"]} >= {"Bern", "Ulm"}
    assert result.data["hasMore"] is False


@pytest.mark.parametrize(
    ("key", "metric"), [("leftAt_month", "distinct_stationName"), ("leftAtMonth", "minLeftAt")]
)
def test_a_part_of_a_date_and_a_metric_are_made_of_the_name_that_rows_show(serve, key, metric):
    result = serve(**CAMEL)(group_by=[key], metrics=[metric])
    assert set(result.data["groups"][0]) == {"leftAtMonth", metric.replace("_s", "S")}


def test_a_refused_key_is_answered_with_names_that_rows_show(serve):
    assert {"stationName", "dayMonth"} <= suggested_keys(serve(**CAMEL)(group_by=["owner"]))
