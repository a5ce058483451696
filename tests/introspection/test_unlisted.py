"""A declared body is what the tool lists; other fields that the view reads are accepted."""

from __future__ import annotations

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import generics, parsers, serializers
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


class ListOfNarrow(Annotated):
    @extend_schema(request=Narrow(many=True))
    def post(self, request):
        serializer = self.get_serializer(data=request.data, many=isinstance(request.data, list))
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


def test_a_file_stays_a_file_if_the_request_declares_a_text():
    assert find_uploads(by_name(described(Written, "POST").body.fields)["scan"].value_info)


def test_the_files_of_an_open_body_are_known():
    body = described(AnyObject, "POST").body
    assert (body.kind, body.fields) == ("open", ())
    assert list(find_uploads(body.value_info)) == [("scan",)]


def test_a_list_that_the_request_does_not_declare_is_listed():
    body = described(Rows, "POST").body
    assert (body.kind, find_listed(Rows, "POST")) == ("either", {"title": True})
    assert find_uploads(body.value_info)


def test_one_object_is_accepted_if_a_list_is_declared():
    assert described(ListOfNarrow, "POST").body.kind == "list"
    assert find_listed(ListOfNarrow, "POST")["pages"] is False


def test_excluded_fields_are_accepted_and_listed_only_if_required():
    view = type("View", (Annotated,), {"serializer_class": Trimmed})
    assert find_listed(view, "POST") == {"name": True, "internal": False, "needed": True}


def test_excluded_fields_of_a_nested_serializer_are_not_in_the_schema():
    outer = type("Outer", (serializers.Serializer,), {"inner": Trimmed()})
    (inner,) = described(
        type("View", (Annotated,), {"serializer_class": outer}), "POST"
    ).body.fields
    assert set(inner.schema["properties"]) == {"name", "needed"}


def test_an_action_that_declares_and_reads_no_body_has_none():
    body = described(Actions, "POST", "silent").body
    assert (body.kind, body.fields, body.schema) == ("none", (), None)


def test_an_action_that_declares_no_body_accepts_the_keys_that_it_reads():
    assert described(Actions, "POST", "reads_keys").body.kind == "none"
    assert find_listed(Actions, "POST", "reads_keys") == {"reason": False}


def test_an_action_that_declares_no_body_accepts_the_fields_of_its_serializer():
    assert find_listed(Actions, "POST", "reads_serializer") == {"title": False}


def test_an_action_that_declares_no_body_accepts_any_body_if_it_reads_the_whole():
    body = described(Actions, "POST", "reads_whole").body
    assert (body.kind, body.schema is None) == ("none", False)


def test_keys_that_the_handler_reads_besides_the_declared_request_are_accepted():
    assert set(find_listed(Actions, "POST", "reads_further")) == {"title", "notify"}


def test_a_serializer_that_raises_is_no_finding_if_the_request_is_declared():
    class Failing(Narrowed):
        def get_serializer_class(self):
            raise RuntimeError("needs a caller")

    assert described(Failing, "POST").findings == ()


class Renamed(Narrowed):
    """Has a parser and a renderer for camel case."""

    from djangorestframework_camel_case.parser import CamelCaseJSONParser
    from djangorestframework_camel_case.render import CamelCaseJSONRenderer

    parser_classes = [CamelCaseJSONParser]
    renderer_classes = [CamelCaseJSONRenderer]
    serializer_class = type("Snake", (Narrow,), {"page_count": serializers.IntegerField()})


def test_unlisted_fields_are_renamed():
    assert find_listed(Renamed, "POST") == {"title": True, "pageCount": False}


def test_a_body_that_no_parser_reads_as_an_object_stays_a_document():
    class Yaml(parsers.BaseParser):
        media_type = "application/yaml"

    view = type("View", (Narrowed,), {"parser_classes": [Yaml]})
    assert described(view, "POST").body.kind == "open"
