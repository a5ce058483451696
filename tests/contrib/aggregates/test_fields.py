"""An aggregate uses only the columns that the list shows to its caller unchanged."""

from __future__ import annotations

import pytest
from django.urls import path
from rest_framework import serializers

from drf_mcp import mcp_viewset
from drf_mcp.exposure import registry
from tests.contrib.aggregates.journeys import FIELDS, Journey, JourneyViewSet, Station

pytestmark = pytest.mark.usefixtures("journeys")


class UpperCaseField(serializers.CharField):
    def to_representation(self, value):
        return value.upper()


class HiddenValueField(serializers.CharField):
    def get_attribute(self, instance):
        return None


class StationSerializer(serializers.ModelSerializer):
    class Meta:
        model = Station
        fields = ["name", "country"]


def make_viewset(base=serializers.ModelSerializer, names=None, meta=None, tool=None, **members):
    """Return a viewset of journeys with an aggregate of the fields of this serializer."""
    names = names or [name for name, value in members.items() if not callable(value)]
    Meta = type("Meta", (), {"model": Journey, "fields": names, **(meta or {})})
    serializer_class = type("OwnSerializer", (base,), {"Meta": Meta, **members})
    own = type("Own", (JourneyViewSet,), {"serializer_class": serializer_class})
    return mcp_viewset(aggregate=names, name=tool)(own)


@pytest.fixture
def tool_with(expose):
    """Serve journeys by a serializer with these members and return its aggregate."""

    def serve(**members):
        own = make_viewset(**members)
        expose(path("journeys/", own.as_view({"get": "list"})))
        return registry.tool("journeys_aggregate")

    return serve


@pytest.fixture
def tools_of(expose):
    """Serve journeys once for each of these fields and return the aggregates."""

    def serve(fields):
        own = [make_viewset(own=field, tool=f"row{n}") for n, field in enumerate(fields)]
        expose(*(path(f"{n}/", each.as_view({"get": "list"})) for n, each in enumerate(own)))
        return [registry.tool(f"row{n}_aggregate") for n in range(len(own))]

    return serve


def keys_of(tool, argument="group_by"):
    return tool.input_schema["properties"][argument]["items"].get("enum", [])


def text_of(tool):
    return " ".join(finding.message for finding in tool.findings)


LEFT_OUT = [
    (UpperCaseField(source="owner"), "computed, or shown by a class of its own"),
    (HiddenValueField(source="owner"), "computed, or shown by a class of its own"),
    (serializers.SerializerMethodField(), "computed, or shown by a class of its own"),
    (serializers.CharField(source="get_kind_display"), "shows no column of Journey"),
    (serializers.CharField(source="pk"), "shows no column of Journey"),
    (serializers.CharField(source="owner", write_only=True), "shows no field 'own'"),
    (serializers.IntegerField(source="price"), "shows its column as another type"),
    (serializers.CharField(source="price"), "shows its column as another type"),
    (serializers.BooleanField(source="passengers"), "shows its column as another type"),
    (serializers.DateField(source="left_at"), "shows its column as another type"),
    (serializers.DateTimeField(source="left_at", format="%Y"), "has a format of its own"),
    (serializers.DateField(source="day", format="%Y-%m"), "has a format of its own"),
    (serializers.StringRelatedField(source="station"), "computed, or shown by a class"),
    (StationSerializer(source="station"), "computed, or shown by a class of its own"),
    (
        serializers.CharField(source="station.name", default="nowhere"),
        "shows its default where there is no object",
    ),
    (serializers.MultipleChoiceField(choices=["a"], source="owner"), "shown by a class of its own"),
    (serializers.SlugRelatedField("journeys", source="station", read_only=True), "no column"),
]
SHOWN = [
    serializers.ReadOnlyField(source="owner"),
    serializers.ReadOnlyField(source="station.country"),
    serializers.ReadOnlyField(source="station_id"),
    serializers.CharField(source="owner"),
    serializers.EmailField(source="owner"),
    serializers.ChoiceField(["a"], source="owner"),
    serializers.IntegerField(source="id"),
    serializers.PrimaryKeyRelatedField(source="station", read_only=True),
    serializers.SlugRelatedField("name", source="station", read_only=True),
    serializers.DecimalField(9, 2, source="price"),
]


@pytest.mark.slow
def test_a_field_that_changes_its_column_is_left_out(tools_of, subtests):
    tools = tools_of(field for field, _ in LEFT_OUT)
    for tool, (field, reason) in zip(tools, LEFT_OUT, strict=True):
        with subtests.test(field=field):
            assert (keys_of(tool), keys_of(tool, "metrics")) == ([], ["count"])
            assert reason in text_of(tool)


@pytest.mark.slow
def test_a_field_that_shows_its_column_is_grouped_by_its_own_name(tools_of, agent_of, subtests):
    carol = agent_of("carol")
    for tool, field in zip(tools_of(SHOWN), SHOWN, strict=True):
        with subtests.test(field=field):
            assert (tool.findings, keys_of(tool)) == ((), ["own"])
            result = carol.call_with(tool.name, {"group_by": ["own"]})
            assert sum(group["count"] for group in result.data["groups"]) == 70


def test_keys_of_objects_are_counted_and_not_summed_up(tool_with):
    tool = tool_with(names=["id", "station", "passengers"])
    assert text_of(tool) == ""
    assert [key for key in keys_of(tool, "metrics") if "passengers" not in key] == [
        "count",
        "distinct_id",
        "distinct_station",
    ]


def test_a_serializer_with_its_own_to_representation_has_no_groups(tool_with):
    tool = tool_with(names=["owner"], to_representation=lambda self, row: {"owner": "x"})
    assert keys_of(tool) == []
    assert "OwnSerializer has a to_representation() of its own" in text_of(tool)


class DiscreetSerializer(serializers.ModelSerializer):
    """Journeys whose prices only staff see."""

    class Meta:
        model = Journey
        fields = ["kind", "price"]

    def get_fields(self):
        fields = super().get_fields()
        if not self.context["request"].user.is_staff:
            del fields["price"]
        return fields


@mcp_viewset(aggregate=["kind", "price"])
class DiscreetViewSet(JourneyViewSet):
    serializer_class = DiscreetSerializer


@pytest.fixture
def discreet(journeys, expose):
    expose(path("journeys/", DiscreetViewSet.as_view({"get": "list"})))


QUESTIONS = [
    {"metrics": ["sum_price"]},
    {"metrics": ["count", "max_price"]},
    {"group_by": ["price"]},
    {"group_by": ["kind", "price"]},
]


@pytest.mark.usefixtures("discreet")
def test_a_field_hidden_from_the_caller_is_refused_with_the_fields_that_are_shown(agent_of):
    for question in QUESTIONS:
        result = agent_of("alice").call_with("journeys_aggregate", question)
        assert result.code == "VALIDATION_ERROR"
        (problem,) = result.problems
        name, values = next(iter(question.items()))
        last = len(values) - 1
        known = "kind" if name == "group_by" else "count, distinct_kind"
        assert problem == {
            "pointer": f"/{name}/{last}",
            "code": "not_shown",
            "message": f"'{values[-1]}' is made of a field that the list does not show to you as "
            f"it is stored. Choose from: {known}.",
            "remediation": "Use one of the values that the message names.",
        }


@pytest.mark.usefixtures("discreet")
def test_each_caller_may_use_the_fields_that_their_list_shows(agent_of):
    for question in QUESTIONS:
        assert not agent_of("carol").call_with("journeys_aggregate", question).is_error, question
    result = agent_of("alice").call_with("journeys_aggregate", {"group_by": ["kind"]})
    assert {group["kind"] for group in result.data["groups"]} == {"train", "ship"}


def test_every_declared_field_is_described(journeys):
    tool = registry.tool("journeys_aggregate")
    assert tool.findings == ()
    named = " ".join(keys_of(tool))
    assert [name for name in FIELDS if name not in named] == []
