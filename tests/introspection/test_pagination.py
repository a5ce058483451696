"""Query parameters and answers of paginators, and versions in the query."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import Group
from jsonschema import Draft202012Validator
from rest_framework import generics, pagination, serializers, versioning
from rest_framework.test import APIRequestFactory

from tests.introspection.inspected import bare, by_name, described, schemas


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


class Groups(generics.ListAPIView):
    queryset = Group.objects.order_by("id")
    serializer_class = GroupSerializer
    filter_backends = []


class Numbered(pagination.PageNumberPagination):
    page_size = 20
    page_size_query_param = "size"
    max_page_size = 100


class Offset(pagination.LimitOffsetPagination):
    default_limit = 10
    max_limit = 50


class Cursor(pagination.CursorPagination):
    page_size = 5
    ordering = "id"


def paged(paginator, **attributes):
    own = type("Own", (paginator,), attributes)
    return described(type("Paged", (Groups,), {"pagination_class": own}), "GET")


PAGE = {"type": "integer", "minimum": 1}
OFFSET = {"type": "integer", "minimum": 0}


def test_the_parameters_of_a_paginator(subtests):
    for paginator, attributes, expected in [
        (Numbered, {}, {"page": PAGE, "size": {**PAGE, "maximum": 100}}),
        (Numbered, {"page_size_query_param": None, "page_query_param": "p"}, {"p": PAGE}),
        (Numbered, {"page_size_query_param": None, "page_size": None}, {}),
        (Offset, {}, {"limit": {**PAGE, "maximum": 50}, "offset": OFFSET}),
        (Offset, {"default_limit": None, "max_limit": None}, {"limit": PAGE, "offset": OFFSET}),
        (Cursor, {}, {"cursor": {"type": "string"}}),
        (Cursor, {"page_size": None}, {}),
    ]:
        with subtests.test(paginator=paginator, attributes=attributes, expected=expected):
            schema = paged(paginator, **attributes)
            assert schemas(schema.query) == expected
            assert schema.paginated == bool(expected)


def test_a_view_without_a_paginator_has_no_page_parameters():
    schema = described(type("Plain", (Groups,), {"pagination_class": None}), "GET")
    assert (schema.query, schema.paginated) == ((), False)
    assert schema.output["type"] == "array"


@pytest.mark.django_db
def test_a_page_is_valid_by_the_output_schema():
    Group.objects.create(name="a")
    for paginator in [Numbered, Offset, Cursor]:
        view = type("Paged", (Groups,), {"pagination_class": paginator, "permission_classes": []})
        response = view.as_view()(APIRequestFactory().get("/")).render()
        schema = described(view, "GET").output
        Draft202012Validator(schema).validate(json.loads(response.content))
        assert bare(schema["properties"]["results"]["items"]["properties"]) == {
            "id": {"type": ["integer", "null"]},
            "name": {"type": ["string", "null"]},
        }


def test_an_answer_that_may_not_be_a_stock_page_is_open(subtests):
    for paginator, attributes in [
        (Numbered, {"get_paginated_response": lambda self, data: None}),
        (Numbered, {"page_size": None}),
        (Numbered, {"get_page_size": lambda self, request: None}),
        (Offset, {"default_limit": None}),
        (Offset, {"paginate_queryset": lambda self, *args, **kwargs: None}),
    ]:
        with subtests.test(paginator=paginator, attributes=attributes):
            assert paged(paginator, **attributes).output == {}


# Versions


def versioned(**attributes):
    own = type("Own", (versioning.QueryParameterVersioning,), attributes)
    view = type("Versioned", (Groups,), {"versioning_class": own, "pagination_class": None})
    return by_name(described(view, "GET").query)


def test_a_version_in_the_query_is_a_parameter():
    found = versioned(version_param="v", allowed_versions=["1", "2"], default_version="2")
    assert found["v"].schema == {
        "type": "string",
        "description": "Version of the API.",
        "enum": ["1", "2"],
        "default": "2",
    }
    assert not found["v"].required
