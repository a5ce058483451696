"""Keys of a body that are read besides the fields of a serializer."""

from __future__ import annotations

from django.contrib.auth.models import Group
from django.shortcuts import get_object_or_404
from rest_framework import generics, serializers, views
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response

from drf_mcp.introspection.types import find_uploads
from tests.introspection.inspected import by_name, described

store = {}


class PriceField(serializers.DecimalField):
    def get_value(self, data):
        value = super().get_value(data)
        if value is not serializers.empty:
            self.currency = data.get(f"{self.field_name}_currency", "EUR")
        return value


class Priced(serializers.Serializer):
    """A price, and its currency as a read-only field."""

    price = PriceField(max_digits=5, decimal_places=2)
    price_currency = serializers.CharField(read_only=True)


class Confirmed(serializers.Serializer):
    name = serializers.CharField()

    def validate(self, attrs):
        if "uid" in self.initial_data and self.initial_data.get("token"):
            return attrs
        raise serializers.ValidationError(self.initial_data["why"])


class Validated(serializers.Serializer):
    """Reads validated values."""

    name = serializers.CharField(source="title")

    def to_internal_value(self, data):
        data = super().to_internal_value(data)
        data["kind"] = data["title"]
        return data


class Create(generics.CreateAPIView):
    serializer_class = Confirmed


class Notifying(Create):
    """Reads keys of the body besides its serializer."""

    serializer_class = Validated

    def perform_create(self, serializer):
        if self.request.data.get("notify"):
            serializer.save(by=self.request.data["by"])


def names(serializer_class, view=Create):
    own = type("View", (view,), {"serializer_class": serializer_class})
    fields = by_name(described(own, "POST").body.fields)
    return {name: field.required for name, field in fields.items()}


def test_keys_that_a_field_reads_besides_its_own_are_arguments():
    schema = described(type("View", (Create,), {"serializer_class": Priced}), "POST")
    fields = by_name(schema.body.fields)
    assert {name: field.required for name, field in fields.items()} == {
        "price": True,
        "price_currency": False,
    }
    assert fields["price_currency"].schema["type"] == "string"
    assert schema.body.opened_by
    assert "test_keys.py" in schema.findings[0].message


def test_keys_of_initial_data_are_arguments():
    assert names(Confirmed) == {"name": True, "uid": False, "token": False, "why": False}
    fields = by_name(described(Create, "POST").body.fields)
    assert fields["uid"].schema == {
        "description": "Read in addition to the fields of the serializer."
    }


def test_keys_that_the_handler_reads_are_arguments():
    assert names(Validated, Notifying) == {"name": True, "notify": False, "by": False}


class Plain(views.APIView):
    """Reads its body without a serializer."""

    def post(self, request):
        nights = request.data["nights"]
        kind = request.data.get("kind", "single")
        if kind not in ("single", "double"):
            raise serializers.ValidationError({"kind": "Unknown."})
        if request.data.get("guest"):
            store[request.data["card"]] = kind
        get_object_or_404(Group, name=request.data.get("room"))
        return Response([int(request.data.get("floor", 1)), nights])

    def patch(self, request):
        return Response([request.data.get("note"), store.get(request.data)])


def test_the_keys_that_a_handler_reads_are_the_members_of_an_object():
    schema = described(Plain, "POST")
    fields = by_name(schema.body.fields)
    assert (schema.body.kind, schema.body.opened_by, schema.findings) == ("object", "", ())
    assert {name: field.required for name, field in fields.items()} == {
        "nights": True,
        "kind": False,
        "guest": False,
        "card": False,
        "room": False,
        "floor": False,
    }
    kinds = {"type": "string", "enum": ["single", "double"], "default": "single"}
    assert fields["kind"].schema == kinds
    assert fields["floor"].schema == {"type": "integer", "default": 1}
    assert fields["room"].value_info[()].relation.model is Group


def test_an_object_is_open_where_code_takes_the_body_whole():
    body = described(Plain, "PATCH").body
    assert (body.kind, set(by_name(body.fields))) == ("object", {"note"})
    assert body.opened_by.endswith("passes request.body on")


class Scanned(views.APIView):
    parser_classes = [MultiPartParser]

    def post(self, request):
        return Response([request.FILES["scan"].name, request.data.get("title")])


def test_files_that_the_handler_reads_by_name_are_arguments():
    body = described(Scanned, "POST").body
    fields = by_name(body.fields)
    assert (body.kind, set(fields)) == ("object", {"scan", "title"})
    assert find_uploads(fields["scan"].value_info)
    assert "base64" in fields["scan"].schema["description"]
    assert not described(Scanned, "POST").findings
