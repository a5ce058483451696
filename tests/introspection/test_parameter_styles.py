"""Parameters are sent in the styles of OpenAPI that they are declared with."""

from __future__ import annotations

import pytest
from django.urls import path
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import views
from rest_framework.permissions import AllowAny
from rest_framework.response import Response

NUMBERS = {"type": "array", "items": {"type": "integer"}}
RANGE = {"type": "object", "properties": {"gte": {"type": "integer"}, "in": NUMBERS}}


@pytest.mark.parametrize(
    ("declared", "kind", "value", "query"),
    [
        ({"style": "deepObject", "explode": True}, RANGE, {"gte": 1}, {"f[gte]": ["1"]}),
        ({"style": "deepObject"}, RANGE, {"in": [1, 2]}, {"f[in]": ["1", "2"]}),
        ({"style": "deepObject"}, RANGE, {"a": {"b": True}}, {"f[a][b]": ["true"]}),
        ({"style": "deepObject"}, RANGE, '{"gte": 1}', {"f[gte]": ["1"]}),
        ({"style": "form", "explode": True}, RANGE, {"gte": 1}, {"gte": ["1"]}),
        ({"style": "form", "explode": False}, RANGE, {"gte": 1}, {"f": ["gte,1"]}),
        ({}, RANGE, {"gte": 1}, {"f": ['{"gte": 1}']}),
        ({"style": "pipeDelimited", "explode": False}, NUMBERS, [1, 2], {"f": ["1|2"]}),
        ({"style": "pipeDelimited"}, NUMBERS, [1, 2], {"f": ["1|2"]}),
        ({"style": "pipeDelimited", "explode": True}, NUMBERS, [1, 2], {"f": ["1", "2"]}),
        ({"style": "spaceDelimited", "explode": False}, NUMBERS, [1, 2], {"f": ["1 2"]}),
        ({"style": "form", "explode": False}, NUMBERS, [1, 2], {"f": ["1,2"]}),
        ({"explode": True}, NUMBERS, [1, 2], {"f": ["1", "2"]}),
        ({}, NUMBERS, [1], {"f": ["1"]}),
    ],
)
def test_a_query_parameter_is_sent_in_its_style(expose, agent_of, declared, kind, value, query):
    class Echo(views.APIView):
        schema = AutoSchema()
        permission_classes = [AllowAny]

        @extend_schema(parameters=[OpenApiParameter("f", kind, **declared)], responses=dict)
        def get(self, request):
            return Response(dict(request.GET))

    expose(path("x/", Echo.as_view()))
    (name,) = agent_of(None).tools()
    assert agent_of(None).call(name, f=value).envelope["data"] == query


def test_an_array_in_a_path_is_sent_with_commas(expose, agent_of):
    class Echo(views.APIView):
        schema = AutoSchema()
        permission_classes = [AllowAny]

        @extend_schema(
            parameters=[OpenApiParameter("ids", NUMBERS, OpenApiParameter.PATH)], responses=dict
        )
        def get(self, request, ids):
            return Response({"ids": ids})

    expose(path("x/<str:ids>/", Echo.as_view()))
    (name,) = agent_of(None).tools()
    for value in ([1, 2], "1,2", "[1, 2]"):
        assert agent_of(None).call(name, ids=value).envelope["data"] == {"ids": "1,2"}
