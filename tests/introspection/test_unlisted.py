"""What people wrote of a body is what the tool lists; what the view's code knows it takes."""

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
    """Its document forgets that the scan is a file."""

    @extend_schema(request={"application/json": {"properties": {"scan": {"type": "string"}}}})
    def post(self, request):
        return self.create(request)


class AnyObject(Annotated):
    @extend_schema(request=OpenApiTypes.OBJECT)
    def post(self, request):
        return self.create(request)


class Rows(Annotated):
    """Takes a list, of which the document says nothing."""

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


def taken(view, *args):
    fields = by_name(described(view, *args).body.fields)
    return {name: field.listed for name, field in fields.items()}


def test_a_narrower_request_lists_its_own_and_takes_what_the_serializer_knows():
    assert taken(Narrowed, "POST") == {
        "title": True,
        "pages": False,
        "secret": False,
        "scan": False,
        "lines": False,
    }


def test_members_that_are_not_listed_are_optional_and_handled_as_the_serializer_does():
    fields = by_name(described(Narrowed, "POST").body.fields)
    assert [name for name, field in fields.items() if field.required] == ["title"]
    assert fields["secret"].write_only
    assert find_uploads(fields["scan"].value_info)


def test_a_file_is_one_whatever_was_written_of_it():
    assert find_uploads(by_name(described(Written, "POST").body.fields)["scan"].value_info)


def test_the_files_of_an_open_body_are_known():
    body = described(AnyObject, "POST").body
    assert (body.kind, body.fields) == ("open", ())
    assert list(find_uploads(body.value_info)) == [("scan",)]


def test_a_list_that_the_document_forgets_is_listed():
    body = described(Rows, "POST").body
    assert (body.kind, taken(Rows, "POST")) == ("either", {"title": True})
    assert find_uploads(body.value_info)


def test_one_row_may_be_sent_where_a_list_was_written():
    assert described(ListOfNarrow, "POST").body.kind == "list"
    assert taken(ListOfNarrow, "POST")["pages"] is False


def test_excluded_fields_are_taken_and_not_listed_unless_they_are_required():
    view = type("View", (Annotated,), {"serializer_class": Trimmed})
    assert taken(view, "POST") == {"name": True, "internal": False, "needed": True}


def test_members_that_are_excluded_inside_are_no_part_of_the_schema():
    outer = type("Outer", (serializers.Serializer,), {"inner": Trimmed()})
    (inner,) = described(
        type("View", (Annotated,), {"serializer_class": outer}), "POST"
    ).body.fields
    assert set(inner.schema["properties"]) == {"name", "needed"}


def test_an_action_without_a_request_that_reads_none_takes_none():
    body = described(Actions, "POST", "silent").body
    assert (body.kind, body.fields, body.schema) == ("none", (), None)


def test_an_action_without_a_request_takes_the_keys_that_it_reads():
    assert described(Actions, "POST", "reads_keys").body.kind == "none"
    assert taken(Actions, "POST", "reads_keys") == {"reason": False}


def test_an_action_without_a_request_takes_what_its_serializer_reads():
    assert taken(Actions, "POST", "reads_serializer") == {"title": False}


def test_an_action_without_a_request_takes_any_body_that_it_reads_whole():
    body = described(Actions, "POST", "reads_whole").body
    assert (body.kind, body.schema is None) == ("none", False)


def test_keys_that_the_handler_reads_beside_what_was_written_are_taken():
    assert set(taken(Actions, "POST", "reads_further")) == {"title", "notify"}


def test_what_only_the_description_fails_at_is_no_finding():
    class Failing(Narrowed):
        def get_serializer_class(self):
            raise RuntimeError("needs a caller")

    assert described(Failing, "POST").findings == ()


class Renamed(Narrowed):
    """Its clients write camel case."""

    from djangorestframework_camel_case.parser import CamelCaseJSONParser
    from djangorestframework_camel_case.render import CamelCaseJSONRenderer

    parser_classes = [CamelCaseJSONParser]
    renderer_classes = [CamelCaseJSONRenderer]
    serializer_class = type("Snake", (Narrow,), {"page_count": serializers.IntegerField()})


def test_members_that_are_not_listed_have_the_names_that_clients_use():
    assert taken(Renamed, "POST") == {"title": True, "pageCount": False}


def test_a_body_that_no_parser_reads_by_members_stays_a_document():
    class Yaml(parsers.BaseParser):
        media_type = "application/yaml"

    view = type("View", (Narrowed,), {"parser_classes": [Yaml]})
    assert described(view, "POST").body.kind == "open"
