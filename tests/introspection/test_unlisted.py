"""A declared body is what the tool lists; other fields that the view reads are accepted."""

from __future__ import annotations

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import generics, serializers
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from drf_mcp.introspection.types import find_uploads
from tests.introspection.inspected import by_name, described


class Narrow(serializers.Serializer):
    title = serializers.CharField()


class Line(serializers.Serializer):
    price = serializers.IntegerField()


class Wide(Narrow):
    pages = serializers.IntegerField()
    secret = serializers.CharField(write_only=True)
    scan = serializers.FileField(required=False)
    lines = Line(many=True, required=False)


class Annotated(generics.CreateAPIView):
    schema = AutoSchema()
    serializer_class = Wide


class Narrowed(Annotated):
    @extend_schema(request=Narrow)
    def post(self, request):
        return self.create(request)


class Written(Annotated):
    """Its declared request says that the file is a text."""

    @extend_schema(request={"application/json": {"properties": {"scan": {"type": "string"}}}})
    def post(self, request):
        return self.create(request)


class AnyObject(Annotated):
    @extend_schema(request=OpenApiTypes.OBJECT)
    def post(self, request):
        return self.create(request)


class Numbers(Annotated):
    @extend_schema(request=list[int])
    def post(self, request):
        return Response(request.data)


class Rows(Annotated):
    """Reads a list, and declares one object."""

    @extend_schema(request=Narrow)
    def post(self, request):
        serializer = Wide(data=request.data, many=True)
        serializer.is_valid(raise_exception=True)
        return Response(serializer.data)


@extend_schema_serializer(exclude_fields=["internal", "needed"])
class Trimmed(serializers.Serializer):
    name = serializers.CharField()
    internal = serializers.CharField(required=False)
    needed = serializers.CharField()


class Actions(GenericViewSet):
    schema = AutoSchema()
    serializer_class = Wide

    @extend_schema(request=None)
    @action(detail=False, methods=["post"])
    def silent(self, request):
        return Response()

    @extend_schema(request=None)
    @action(detail=False, methods=["post"])
    def reads_keys(self, request):
        return Response(request.data.get("reason"))

    @extend_schema(request=None)
    @action(detail=False, methods=["post"])
    def reads_serializer(self, request):
        serializer = Narrow(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response(serializer.data)

    @extend_schema(request=None)
    @action(detail=False, methods=["post"])
    def reads_whole(self, request):
        return Response(dict(request.data))

    @extend_schema(request=Narrow)
    @action(detail=False, methods=["post"])
    def reads_further(self, request):
        return Response([request.data["title"], request.data.get("notify")])


def find_listed(view, *args):
    fields = by_name(described(view, *args).body.fields)
    return {name: field.listed for name, field in fields.items()}


def test_a_narrower_request_is_listed_and_the_fields_of_the_serializer_are_accepted():
    assert find_listed(Narrowed, "POST") == {
        "title": True,
        "pages": False,
        "secret": False,
        "scan": False,
        "lines": False,
    }


def test_unlisted_fields_are_optional_and_handled_as_in_the_serializer():
    fields = by_name(described(Narrowed, "POST").body.fields)
    assert [name for name, field in fields.items() if field.required] == ["title"]
    assert fields["secret"].write_only
    assert find_uploads(fields["scan"].value_info)


def test_excluded_fields_are_accepted_and_listed_only_if_required():
    view = type("View", (Annotated,), {"serializer_class": Trimmed})
    assert find_listed(view, "POST") == {"name": True, "internal": False, "needed": True}


def test_an_action_that_declares_and_reads_no_body_has_none():
    body = described(Actions, "POST", "silent").body
    assert (body.kind, body.fields, body.schema) == ("none", (), None)


def test_an_action_that_declares_no_body_accepts_the_fields_of_its_serializer():
    assert find_listed(Actions, "POST", "reads_serializer") == {"title": False}


def test_an_action_that_declares_no_body_accepts_any_body_if_it_reads_the_whole():
    body = described(Actions, "POST", "reads_whole").body
    assert (body.kind, body.schema is None) == ("none", False)


class Renamed(Narrowed):
    """Has a parser and a renderer for camel case."""

    from djangorestframework_camel_case.parser import CamelCaseJSONParser
    from djangorestframework_camel_case.render import CamelCaseJSONRenderer

    parser_classes = [CamelCaseJSONParser]
    renderer_classes = [CamelCaseJSONRenderer]
    serializer_class = type("Snake", (Narrow,), {"page_count": serializers.IntegerField()})
