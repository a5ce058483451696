"""Endpoints annotated for drf-spectacular."""

from __future__ import annotations

from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiParameter,
    OpenApiRequest,
    PolymorphicProxySerializer,
    extend_schema,
    extend_schema_field,
    extend_schema_serializer,
)
from rest_framework import serializers as s
from rest_framework.decorators import api_view, permission_classes
from rest_framework.response import Response

from tests.introspection.nasty import fields
from tests.introspection.nasty.views import OPEN, Echo, Plain, Reads


@extend_schema_field({"type": "string", "enum": ["red", "blue"], "nullable": True})
class Hue(fields.Colour):
    """A colour with a declared schema."""


class Money(s.Field):
    """Described by an extension."""

    def to_internal_value(self, data):
        return data

    def to_representation(self, value):
        return value


class MoneyExtension(OpenApiSerializerFieldExtension):
    target_class = Money

    def map_serializer_field(self, auto_schema, direction):
        return {
            "type": "object",
            "properties": {
                "amount": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
                "currency": {"type": "string"},
            },
            "required": ["amount"],
        }


class Tree(s.Serializer):
    """Described by an extension as an object that contains itself."""

    def to_internal_value(self, data):
        return data

    def to_representation(self, instance):
        return instance


class TreeExtension(OpenApiSerializerExtension):
    target_class = Tree

    def map_serializer(self, auto_schema, direction):
        again = {"$ref": "#/components/schemas/Tree"}
        return {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "id": {"type": "integer", "readOnly": True},
                "children": {"type": "array", "items": again},
            },
            "required": ["name", "id"],
        }


class Painted(s.Serializer):
    hue = Hue(required=False)
    price = Money()
    tree = Tree(required=False)


@extend_schema_serializer(exclude_fields=["internal"])
class Trimmed(s.Serializer):
    name = s.CharField()
    internal = s.CharField(required=False)


class Cat(s.Serializer):
    kind = s.CharField()
    lives = s.IntegerField()


class Dog(s.Serializer):
    kind = s.CharField()
    tricks = s.ListField(child=s.CharField())


class OneOf:
    """Is no serializer: an extension describes it."""

    def __init__(self, *kinds):
        self.kinds = kinds


class OneOfExtension(OpenApiSerializerExtension):
    target_class = OneOf

    def get_name(self):
        return "OneOf"

    def map_serializer(self, auto_schema, direction):
        kinds = [auto_schema.resolve_serializer(kind, direction) for kind in self.target.kinds]
        return {"anyOf": [kind.ref for kind in kinds]}


class Annotated(Plain):
    schema = AutoSchema()
    http_method_names = ["post"]


class PaintedEcho(Echo):
    schema = AutoSchema()
    serializer_class = Painted
    http_method_names = ["post"]


class TrimmedEcho(PaintedEcho):
    serializer_class = Trimmed


class Lines(Annotated):
    @extend_schema(request=fields.Line(many=True), description="Put lines.", deprecated=True)
    def post(self, request):
        return Response({"got": request.data})


class Pets(Annotated):
    @extend_schema(
        summary="Adopt a pet",
        request=PolymorphicProxySerializer("Pet", [Cat, Dog], resource_type_field_name=None),
    )
    def post(self, request):
        return Response({"got": request.data})


class Kept(Annotated):
    @extend_schema(request=OneOf(Cat, Dog))
    def post(self, request):
        return Response({"got": request.data})


class Loose(Annotated):
    @extend_schema(
        request={
            "multipart/form-data": {"type": "object"},
            "application/json": OpenApiRequest(
                {
                    "type": "object",
                    "properties": {"n": {"type": "integer", "nullable": True}, "s": {}},
                    "required": ["n"],
                }
            ),
        }
    )
    def post(self, request):
        return Response({"got": request.data})


class Nothing(Annotated):
    @extend_schema(request=None)
    def post(self, request):
        return Response({"ok": "yes"})


class AnyObject(Annotated):
    @extend_schema(request=OpenApiTypes.OBJECT)
    def post(self, request):
        return Response({"got": request.data})


class Asked(Reads):
    @extend_schema(
        parameters=[
            OpenApiParameter("depth", int, description="How deep.", enum=[1, 2]),
            OpenApiParameter("ids", int, many=True, explode=False),
            OpenApiParameter("since", OpenApiTypes.DATE, required=True),
            OpenApiParameter("X-Trace", str, OpenApiParameter.HEADER),
            fields.Address,
        ]
    )
    def get(self, request, **kwargs):
        return super().get(request, **kwargs)


class Hidden(Reads):
    @extend_schema(exclude=True)
    def get(self, request, **kwargs):
        return super().get(request, **kwargs)


class Broken(Annotated):
    """Has annotations that raise."""

    class schema(AutoSchema):
        def get_request_serializer(self):
            raise RuntimeError("no request")

        def get_override_parameters(self):
            raise RuntimeError("no parameters")

        def get_description(self):
            raise RuntimeError("no description")

    schema = schema()


@extend_schema(request=Cat)
@api_view(["POST"])
@permission_classes(OPEN)
def annotated_function(request):
    return Response({"got": request.data})
