"""Every view can be described, even if its code raises."""

from __future__ import annotations

from itertools import product

import django_filters.rest_framework as django_filters
import pytest
from django.contrib.auth.models import User
from rest_framework import filters, serializers, viewsets

from drf_mcp.describers import (
    Describer,
    Inspection,
    Parameter,
    PathKwarg,
)
from drf_mcp.introspection.types import Body
from tests.introspection.inspected import METHODS, describe, described, view_of


class UserSerializer(serializers.ModelSerializer):
    """All fields of a user."""

    class Meta:
        model = User
        fields = "__all__"


class Users(viewsets.ModelViewSet):
    """A view set with filters."""

    queryset = User.objects.all()
    serializer_class = UserSerializer
    filter_backends = [
        django_filters.DjangoFilterBackend,
        filters.SearchFilter,
        filters.OrderingFilter,
    ]
    filterset_fields = ["is_staff"]
    search_fields = ["username"]


def test_a_plain_viewset_has_no_findings():
    key = (PathKwarg("pk"),)
    found = {name: described(Users, action=name, path_kwargs=key).findings for name in METHODS}
    assert found == dict.fromkeys(METHODS, ())


def fail(*args, **kwargs):
    raise ZeroDivisionError("on purpose")


FAILING = [
    "get_queryset",
    "get_serializer",
    "get_serializer_class",
    "get_serializer_context",
    "filter_queryset",
    "paginator",
    "filter_backends",
    "serializer_class",
    "queryset",
    "pagination_class",
    "versioning_class",
    "renderer_classes",
    "lookup_field",
    "detail",
    "request",
    "action_map",
]


BROKEN = {"function": fail, "property": property(fail), "None": None, "5": 5}
UNLIKE = ["list", "retrieve", "update", "destroy"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", BROKEN)
def test_a_view_that_raises_anywhere_is_described(kind):
    cases = list(product(FAILING, UNLIKE))
    found = {case: path_of_broken(kind, *case) for case in cases}
    assert found == {case: ["pk"] for case in cases}


def path_of_broken(kind, attribute, action):
    """Return the names of the path parameters of a view that raises when an attribute is read."""
    own = type("Own", (Users,), {})
    view = view_of(own, METHODS[action], action)
    vars(view).pop(attribute, None)
    setattr(own, attribute, BROKEN[kind])
    schema = describe(view, METHODS[action], {"pk": PathKwarg("pk")})
    return [parameter.name for parameter in schema.path]


def test_a_serializer_that_raises_is_a_finding():
    broken = property(fail)
    for name, value in {
        "fields": broken,
        "validators": broken,
        "get_fields": fail,
        "__init__": fail,
    }.items():
        own = type("Own", (UserSerializer,), {name: value})
        schema = described(type("View", (Users,), {"serializer_class": own}), action="create")
        assert "on purpose" in schema.findings[0].message, name


def test_describing_runs_no_query(django_assert_num_queries, db):
    with django_assert_num_queries(0):
        described(Users, action="list")
        described(Users, action="create")


HOOKS = {
    "get_schema": ("body", Body("open", schema={})),
    "get_path_parameters": ("path", (Parameter("pk", {"type": "string"}, required=True),)),
    "get_query_parameters": ("query", ()),
    "get_request_body": ("body", Body("open", schema={})),
    "get_response_schema": ("output", {}),
}


def test_a_describer_hook_that_raises_is_a_finding_and_its_part_is_open():
    for hook, (name, left) in HOOKS.items():
        own = type("Own", (Describer,), {hook: fail})
        inspection = Inspection(view_of(Users, "PUT", "update"), "PUT")
        schema = own(inspection, {"pk": PathKwarg("pk")}).describe()
        assert getattr(schema, name) == left, hook
        (finding,) = schema.findings
        assert "on purpose" in finding.message, hook
        assert finding.remedy == f"Mend {hook}() of {__name__}.Own."
