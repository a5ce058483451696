"""drf-spectacular's schema class as DEFAULT_SCHEMA_CLASS describes every view."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import generics, serializers, viewsets
from rest_framework.response import Response
from rest_framework.views import APIView

from tests.introspection.inspected import bare, by_name, described, schemas


class OwnSchema(AutoSchema):
    """Adds a query parameter, and makes the requests of bulk actions lists."""

    def get_override_parameters(self):
        return [OpenApiParameter("brief", bool)] if self.method == "GET" else []

    def get_request_serializer(self):
        serializer = super().get_request_serializer()
        if getattr(self.view, "action", "").startswith("bulk_"):
            return type(serializer)(many=True)
        return serializer


@pytest.fixture(autouse=True)
def schema_class(settings):
    settings.REST_FRAMEWORK = {"DEFAULT_SCHEMA_CLASS": f"{__name__}.OwnSchema"}


@extend_schema_field({"type": "string", "enum": ["red", "green"]})
class Colour(serializers.Field):
    def to_internal_value(self, data):
        return data


class Painted(serializers.Serializer):
    colour = Colour()


class Things(viewsets.ModelViewSet):
    queryset = Group.objects.all()
    serializer_class = Painted

    def bulk_update(self, request):
        serializer = self.get_serializer(data=request.data, many=True)
        return Response(serializer.is_valid())


def test_its_parameters_are_offered():
    assert set(by_name(described(Things, action="list").query)) == {"brief"}


def test_extend_schema_field_is_used():
    fields = schemas(described(Things, action="create").body.fields)
    assert fields["colour"] == {"type": "string", "enum": ["red", "green"]}


def test_its_request_serializer_is_the_body():
    body = described(Things, "PUT", "bulk_update").body
    assert body.kind == "list"
    assert list(bare(body.schema)["items"]["properties"]) == ["colour"]


def test_a_view_without_annotations_has_no_finding():
    assert described(Things, action="create").findings == ()


def test_a_view_without_a_schema_is_described_without_it(settings):
    class Unwritten(generics.ListAPIView):
        queryset, serializer_class, schema = Group.objects.all(), Painted, None

    assert described(Unwritten, "GET").query == ()


def test_a_request_of_openapitypes_none_has_no_body():
    class Close(APIView):
        @extend_schema(request=OpenApiTypes.NONE)
        def post(self, request):
            return Response(request.data)

    assert described(Close, "POST").body.kind == "none"
