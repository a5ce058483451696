"""Query parameters that are not declared, and that the code of a view reads."""

from __future__ import annotations

import django_filters.rest_framework as django_filters
import pytest
from django.contrib.auth.models import Group, User
from django.urls import path
from drf_dynamic_fields import DynamicFieldsMixin
from drf_queryfields import QueryFieldsMixin
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_flex_fields import FlexFieldsModelSerializer
from rest_framework import serializers, viewsets
from rest_framework.decorators import action, api_view
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import APIView

from drf_mcp.contrib.operators.lint import ToolLint
from drf_mcp.exposure import registry
from drf_mcp.introspection.types import OpenPlace
from tests.introspection.inspected import by_name, described

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
EXPAND = "expand"


class Rows(serializers.ModelSerializer):
    class Meta:
        model = User
        fields = ["id", "username"]


class Users(viewsets.ModelViewSet):
    queryset = User.objects.order_by("id")
    serializer_class = Rows
    filter_backends = []
    pagination_class = None


def users(**attributes):
    return type("OwnUsers", (Users,), attributes)


def query(view_class, action="list", method=None):
    schema = described(view_class, method, action)
    # Some of these views hand the request on to code that is not read.
    assert [each for each in schema.findings if not isinstance(each, OpenPlace)] == []
    return {name: parameter.schema for name, parameter in by_name(schema.query).items()}


# --- Ways to read


def flag(request, name, default="no"):
    return request.query_params.get(name, default) == "yes"


def listed(params, name="words"):
    return params.getlist(name)


def by_get(self):
    return self.request.query_params.get("expand")


def by_subscript(self):
    return self.request.query_params["expand"]


def by_the_inner_request(self):
    return self.request._request.GET["expand"]


def by_presence(self):
    return "expand" in self.request.query_params


def by_variable(self):
    params = self.request.query_params.copy()
    return params.pop("expand", None)


def by_either(self):
    params = getattr(self.request, "query_params", getattr(self.request, "GET", None))
    return params.get("expand")


def by_constant(self):
    return self.request.query_params.get(EXPAND)


def by_function(self):
    return flag(self.request, "expand")


def by_function_of_the_query(self):
    return listed(self.request.query_params, name="expand")


def by_nested_function(self):
    def inner():
        return self.request.query_params.get("expand")

    return inner()


READERS = [
    *(by_get, by_subscript, by_the_inner_request, by_presence, by_variable, by_either),
    *(by_constant, by_function, by_function_of_the_query, by_nested_function),
]


def test_every_way_to_read_a_parameter_is_found():
    for read in READERS:

        class Reading(Users):
            def get_queryset(self):
                getattr(self, "swagger_fake_view", False) or self.read_it()
                return User.objects.all()

            def read_it(self):
                """Replaced by each way to read the parameter."""

        Reading.read_it = read
        (found,) = query(Reading).items()
        kind = "array" if read is by_function_of_the_query else "string"
        assert (found[0], found[1]["type"]) == ("expand", kind)


def test_a_name_in_a_class_attribute_is_that_of_the_subclass():
    class Base(Users):
        search_name = "q"
        unused_name = None

        def get_queryset(self):
            self.request.query_params.get(self.unused_name)
            return User.objects.filter(username=self.request.query_params.get(self.search_name, ""))

    class Own(Base):
        search_name = "find"

    assert set(query(Base)) == {"q"}
    assert set(query(Own)) == {"find"}


def test_fields_of_a_query_serializer_are_parameters_with_their_types():
    class QuerySerializer(serializers.Serializer):
        depth = serializers.IntegerField(max_value=3)
        kinds = serializers.ListField(child=serializers.CharField(), required=False)

    class Tree(APIView):
        def get(self, request):
            query_serializer = QuerySerializer(data=request.query_params)
            query_serializer.is_valid(raise_exception=True)
            return Response(query_serializer.validated_data)

    found = by_name(described(Tree, "GET").query)
    assert found["depth"].schema == {"type": "integer", "maximum": 3}
    assert found["kinds"].multiple == "repeat"
    assert not found["depth"].required


def test_parameters_of_a_function_view_are_found():
    @api_view(["GET", "POST"])
    def both(request):
        if request.method == "POST":
            return Response(request.query_params["notify"])
        return Response(flag(request, "all"))

    # One function with several methods is described as a whole.
    assert set(query(both.cls, None, "GET")) == {"all", "notify"}


# --- Which code is read


class Hooked(Users):
    def initial(self, request, *args, **kwargs):
        super().initial(request, *args, **kwargs)
        self.trace = request.GET.get("trace")

    def get_queryset(self):
        return User.objects.filter(email=self.request.query_params.get("email"))

    def get_serializer_class(self):
        self.request.query_params.get(api_settings.URL_FORMAT_OVERRIDE)
        self.request.query_params.get("format")
        return super().get_serializer_class()

    def perform_destroy(self, instance):
        instance.delete(replaced_by=self.request.query_params.get("replaced_by"))

    @action(detail=False)
    def count(self, request):
        return Response(request.query_params.get("of"))


def test_parameters_are_found_in_the_code_that_an_action_runs():
    cases = [
        ("list", "GET", {"trace", "email"}),
        ("retrieve", "GET", {"trace", "email"}),
        ("create", "POST", {"trace"}),
        ("destroy", "DELETE", {"trace", "email", "replaced_by"}),
        ("count", "GET", {"trace", "of"}),
    ]
    found = [set(query(Hooked, action, method)) for action, method, _ in cases]
    assert found == [names for _, _, names in cases]


class Inner(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["name"]

    def to_representation(self, instance):
        given = super().to_representation(instance)
        return given if self.context["request"].query_params.get("inner") else None


class Shown(serializers.Field):
    def to_representation(self, value):
        return self.context.get("request").GET.get("shown")


class Asking(Rows):
    groups = Inner(many=True, read_only=True)
    email = Shown(read_only=True)
    note = serializers.SerializerMethodField()

    class Meta:
        model = User
        fields = ["id", "groups", "email", "note"]

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if self.context and "secret" not in self.context["request"].query_params:
            self.fields.pop("note")

    def get_note(self, user):
        return self.context["view"].request.query_params.get("note")


class Dated(django_filters.FilterSet):
    """Reads query parameters besides its filters."""

    since = django_filters.DateFilter(method="filter_since")

    class Meta:
        model = User
        fields = []

    def filter_since(self, queryset, name, value):
        lookup = self.data.get("since_of", "date_joined")
        zone = self.request.query_params.get("zone")
        return queryset.filter(**{lookup: value, "email": zone})


# --- Packages


class Flexible(FlexFieldsModelSerializer):
    """drf-flex-fields."""

    class Meta:
        model = User
        fields = ["id", "username"]
        expandable_fields = {"groups": (Inner, {"many": True})}


class Dynamic(DynamicFieldsMixin, Rows):
    """drf-dynamic-fields."""


class Queried(QueryFieldsMixin, Rows):
    """djangorestframework-queryfields."""


def test_parameters_of_known_packages_are_found():
    cases = [
        (Flexible, {"expand", "fields", "omit"}),
        (Dynamic, {"fields", "omit"}),
        (Queried, {"fields", "fields!"}),
    ]
    found = [set(query(users(serializer_class=serializer_class))) for serializer_class, _ in cases]
    assert found == [names for _, names in cases]


# --- Declared parameters, and parameters that cannot be found


def test_declared_parameters_are_not_added_again():
    class Declared(Users):
        @extend_schema(
            parameters=[
                OpenApiParameter("depth", int, description="How deep."),
                OpenApiParameter("hidden", exclude=True),
            ]
        )
        def list(self, request):
            params = request.query_params
            return Response([params.get("depth"), params.get("hidden"), params.get("kind")])

    assert query(Declared) == {
        "kind": TEXT,
        "depth": {"type": "integer", "description": "How deep."},
    }


def test_a_parameter_with_the_name_of_a_body_field_gets_another_name(expose, carol):
    class Named(serializers.Serializer):
        name = serializers.CharField()

    class Noted(APIView):
        def post(self, request):
            Named(data=request.data).is_valid(raise_exception=True)
            return Response({"name": request.data["name"], "query": request.GET.get("name")})

    expose(path("noted/", Noted.as_view()))
    (tool,) = registry.tools()
    result = carol.call(tool, name="body", name_query="query")
    assert result.data == {"name": "body", "query": "query"}, result.raw


class Computing(Users):
    """Reads parameters whose names are computed."""

    def get_queryset(self):
        name = self.request.user.username
        return User.objects.filter(username=self.request.query_params.get(f"of_{name}", ""))


@pytest.mark.slow
def test_computed_names_are_findings(expose):
    expose(path("users/", Computing.as_view({"get": "list"})))
    (tool,) = registry.tools().values()
    findings = [f"{finding.message} {finding.remedy}" for finding in ToolLint(tool).find()]
    (finding,) = [finding for finding in findings if "computes names" in finding]
    assert "f'of_{name}'" in finding
    assert "@mcp_tool(query=" in finding


def test_methods_that_call_each_other_are_read_once():
    class Turning(Users):
        def get_queryset(self):
            return self.again(self.request.query_params.get("turn"))

        def again(self, turn):
            return self.get_queryset() if turn else self.again(True)

    assert set(query(Turning)) == {"turn"}
