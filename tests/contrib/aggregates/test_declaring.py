"""The option ``aggregate=[...]``: the tools that it makes, and the errors of its checks."""

from __future__ import annotations

from functools import wraps
from types import FunctionType

import pytest
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.test import modify_settings
from django.urls import include, path
from django.utils.decorators import method_decorator
from djangorestframework_camel_case.render import CamelCaseJSONRenderer
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.response import Response
from rest_framework.routers import DefaultRouter

from drf_mcp import mcp_tool, mcp_viewset
from drf_mcp.tools import Registry, registry
from tests.contrib.aggregates.journeys import Journey, JourneySerializer, JourneyViewSet

pytestmark = pytest.mark.usefixtures("journeys")
LIST = {"get": "list", "post": "create"}


def viewset(aggregate=None, **members):
    own = type("Own", (JourneyViewSet,), members)
    return own if aggregate is None else mcp_viewset(aggregate=aggregate)(own)


def copy(handler):
    """Return a copy of a handler, so that decorating it does not change the original."""
    return FunctionType(handler.__code__, handler.__globals__, handler.__name__)


@pytest.fixture
def serve(expose):
    def mount(view_class, actions=LIST, **settings):
        expose(path("journeys/", view_class.as_view(actions)), EXPOSE="explicit", **settings)
        return set(registry.tools())

    return mount


@pytest.fixture
def errors():
    return lambda: [m.msg for m in run_checks(tags=["drf_mcp"]) if m.id == "drf_mcp.E007"]


def test_a_viewset_without_the_option_has_no_aggregate(expose):
    expose(path("journeys/", viewset().as_view(LIST)))
    assert set(registry.tools()) == {"journeys_list", "journeys_create"}


def test_a_decorated_viewset_has_an_aggregate(serve):
    assert serve(viewset(["kind"])) == {"journeys_list", "journeys_create", "journeys_aggregate"}


def test_a_registered_viewset_and_a_registered_router_have_an_aggregate(expose):
    plain = viewset()
    router = DefaultRouter()
    router.register("journeys", plain)
    expose(path("", include(router.urls)), EXPOSE="explicit")
    for target in (plain, router):
        own = Registry()
        own.register(target, aggregate=["kind"])
        assert "journeys_aggregate" in own.tools()


def test_the_schema_has_the_names_of_a_renderer_in_camel_case(serve, agent_of):
    camel = viewset(["station_name", "left_at"], renderer_classes=[CamelCaseJSONRenderer])
    serve(camel)
    tool = registry.tools()["journeys_aggregate"]
    groups = tool.input_schema["properties"]["group_by"]["items"]["enum"]
    assert {"stationName", "leftAtMonth"} <= set(groups)
    assert "groupCount" in tool.schema.output["properties"]
    ask = agent_of("carol")
    for key in ("stationName", "station_name"):
        result = ask.call("journeys_aggregate", group_by=[key])
        assert "stationName" in result.data["groups"][0]


def test_the_list_action_can_be_decorated_alone(serve):
    own = viewset(list=mcp_tool(aggregate=["kind"])(copy(JourneyViewSet.list)))
    assert serve(own) == {"journeys_list", "journeys_aggregate"}


def test_without_the_app_the_option_is_an_error_that_names_it():
    with modify_settings(INSTALLED_APPS={"remove": ["drf_mcp.contrib.aggregates"]}):
        with pytest.raises(ImproperlyConfigured, match=r"add 'drf_mcp\.contrib\.aggregates' to"):
            mcp_viewset(aggregate=["kind"])


def test_a_subclass_does_not_inherit_the_option(serve):
    assert serve(type("Sub", (viewset(["kind"]),), {})) == set()


def test_a_viewset_whose_list_is_excluded_has_no_aggregate(serve):
    own = mcp_viewset(exclude=["list"], aggregate=["kind"])(viewset())
    assert serve(own) == {"journeys_create"}


def test_the_list_tool_alone_can_be_excluded(serve):
    tools = serve(viewset(["kind"]), EXCLUDE=["journeys_list"])
    assert tools == {"journeys_create", "journeys_aggregate"}


def test_the_aggregate_alone_can_be_excluded(serve):
    tools = serve(viewset(["kind"]), EXCLUDE=["*_aggregate"])
    assert tools == {"journeys_list", "journeys_create"}


def test_an_aggregate_takes_the_options_of_its_viewset_and_not_those_of_its_list(serve):
    @extend_schema_view(list=extend_schema(summary="Find trips"))
    class Own(JourneyViewSet):
        pass

    Own.list = mcp_tool(name="find_trips")(Own.list)
    own = mcp_viewset(aggregate=["kind"], name="trips", tags=["travel"])(Own)
    assert serve(own) == {"find_trips", "trips_create", "trips_aggregate"}
    tool = registry.tool("trips_aggregate")
    assert tool.options.tags == ("travel",)
    assert tool.title == "Figures of journeys"


def test_an_option_that_is_no_list_of_names_is_refused(subtests):
    for fields in ["kind", [1], None, {"kind": 1}]:
        with subtests.test(fields=fields):
            with pytest.raises(ImproperlyConfigured, match="aggregate"):
                mcp_viewset(aggregate=fields)


# --- Checks -----------------------------------------------------------------------------------


def test_a_correct_declaration_is_no_error(serve, errors):
    serve(viewset(["kind", "price", "left_at", "station"]))
    assert errors() == []


def test_an_unknown_field_is_an_error_that_suggests_the_nearest(serve, errors):
    serve(viewset(["kindd", "kind"]))
    (error,) = errors()
    assert "aggregate= names 'kindd', but JourneySerializer shows no field 'kindd'" in error
    assert "did you mean 'kind'?" in error
    assert registry.tool("journeys_aggregate").input_schema["properties"]["group_by"]["items"] == {
        "type": "string",
        "enum": ["kind"],
    }


def test_a_field_that_is_no_column_is_an_error(serve, errors):
    class Labelled(JourneySerializer):
        class Meta(JourneySerializer.Meta):
            fields = ["get_kind_display"]

    serve(viewset(["get_kind_display"], serializer_class=Labelled))
    (error,) = errors()
    assert "names 'get_kind_display', but" in error


def test_a_field_with_the_name_of_a_metric_is_an_error(serve, errors):
    class Counting(JourneySerializer):
        class Meta(JourneySerializer.Meta):
            fields = ["count"]
            extra_kwargs = {"count": {"source": "passengers"}}

    serve(viewset(["count"], serializer_class=Counting))
    assert "aggregate= makes two things of the name 'count'" in errors()[0]


def test_a_list_that_is_no_queryset_is_an_error(serve, errors):
    serve(viewset(["kind"], get_queryset=lambda self: list(Journey.objects.all())))
    assert "The list is no queryset but list." in errors()[0]


def test_a_view_that_needs_its_caller_is_no_error(serve, errors):
    def get_queryset(self):
        return Journey.objects.filter(
            owner=self.request.user.get_username(), pk=self.request.user.pk
        )

    serve(viewset(["kind"], get_queryset=get_queryset))
    assert errors() == []


def test_a_serializer_that_needs_its_caller_is_no_error_and_leaves_the_choices_open(
    serve, errors, agent_of
):
    def get_serializer_class(self):
        assert self.request.user.username == "carol"
        return JourneySerializer

    serve(viewset(["kind"], get_serializer_class=get_serializer_class))
    assert errors() == []
    tool = registry.tool("journeys_aggregate")
    assert "are not known without a caller" in tool.findings[-1].message
    assert tool.input_schema["properties"]["group_by"]["items"] == {"type": "string"}
    result = agent_of("carol").call_with("journeys_aggregate", {"group_by": ["kind"]})
    assert len(result.data["groups"]) == 2
    refused = agent_of("carol").call_with("journeys_aggregate", {"group_by": ["owner"]})
    assert refused.problems[0]["pointer"] == "/group_by/0"


def test_a_view_without_an_exposed_list_is_an_error(serve, errors):
    serve(mcp_viewset(actions=["create"], aggregate=["kind"])(viewset()))
    (error,) = errors()
    assert error.endswith(".Own has no list that is exposed there.")


def test_the_option_on_another_action_is_an_error(serve, errors):
    serve(viewset(create=mcp_tool(aggregate=["kind"])(copy(JourneyViewSet.create))))
    (error,) = errors()
    assert error.endswith(".Own has no list that is exposed there.")


def test_a_filter_with_the_name_of_an_argument_is_a_finding(serve, agent_of):
    from django_filters import CharFilter, FilterSet

    class Limits(FilterSet):
        limit = CharFilter(field_name="owner")

        class Meta:
            model = Journey
            fields = ["limit"]

    serve(viewset(["kind"], filterset_class=Limits))
    tool = registry.tool("journeys_aggregate")
    assert "The filter 'limit' of the list has the name of an argument" in tool.findings[0].message
    assert tool.input_schema["properties"]["limit"]["type"] == "integer"


# --- Lists with overridden methods or decorators -----------------------------------------------


def override_of(name):
    def own(self, *args, **kwargs):
        return getattr(super(JourneyViewSet, self), name)(*args, **kwargs)

    own.__name__ = name
    return own


def guard(handler):
    @wraps(handler)
    def guarded(self, request, *args, **kwargs):
        return Response(status=403)

    return guarded


OWN = {
    name: {name: override_of(name)}
    for name in ("list", "paginate_queryset", "get_paginated_response", "finalize_response")
}
OWN["decorated"] = {"list": method_decorator(guard)(JourneyViewSet.list)}
OWN["wrapped"] = {"list": guard(JourneyViewSet.list)}


@pytest.mark.slow
def test_a_list_with_code_that_an_aggregate_would_not_run_is_refused(subtests, serve):
    for members in OWN.values():
        with subtests.test(members=members):
            with pytest.raises(
                ImproperlyConfigured, match="is code of its own, which would not be run"
            ):
                serve(viewset(["kind"], **members))
            (error,) = [m for m in run_checks(tags=["drf_mcp"]) if m.id == "drf_mcp.E002"]
            assert "aggregate= cannot be used for" in error.msg


def test_a_decorator_around_the_callback_is_refused(expose):
    def locked(callback):
        @wraps(callback)
        def checked(request, *args, **kwargs):
            return Response(status=403)

        checked.cls, checked.initkwargs, checked.actions = callback.cls, {}, LIST
        return checked

    expose(path("journeys/", locked(viewset(["kind"]).as_view(LIST))))
    with pytest.raises(ImproperlyConfigured, match="its callback has a decorator"):
        registry.tools()


def test_parameters_of_extend_schema_describe_the_aggregate(serve):
    @extend_schema_view(
        list=extend_schema(parameters=[OpenApiParameter("since", str, description="From here on.")])
    )
    class Described(JourneyViewSet):
        schema = AutoSchema()

    serve(mcp_viewset(aggregate=["kind"])(Described))
    schema = registry.tool("journeys_aggregate").input_schema["properties"]["since"]
    assert schema == {"type": "string", "description": "From here on."}
