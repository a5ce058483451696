"""Keys of a body that are read besides the fields of a serializer."""

from __future__ import annotations

from rest_framework import generics, serializers, views
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response

from drf_mcp.introspection.types import find_uploads
from tests.introspection.inspected import by_name, described


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


def test_a_field_that_reads_other_keys_is_a_finding():
    schema = described(type("View", (Create,), {"serializer_class": Priced}), "POST")
    assert set(by_name(schema.body.fields)) == {"price"}
    assert [(each.message, each.remedy) for each in schema.findings] == [
        (
            "The field 'price' may read other members of the body, too.",
            "Name them with @mcp_tool(body={...}).",
        )
    ]


def test_keys_of_initial_data_are_arguments():
    assert names(Confirmed) == {"name": True, "uid": False, "token": False, "why": False}
    fields = by_name(described(Create, "POST").body.fields)
    assert fields["uid"].schema == {
        "description": "Read in addition to the fields of the serializer."
    }


def test_keys_that_the_handler_reads_are_arguments():
    assert names(Validated, Notifying) == {"name": True, "notify": False, "by": False}


def test_the_description_of_an_open_body_names_the_keys_that_the_handler_reads():
    class Own(generics.GenericAPIView):
        def post(self, request):
            return Response(request.data["reason"], request.data.get("status"))

    body = described(Own, "POST").body
    words = "The request body, any JSON value. The handler reads reason, status."
    assert (body.kind, body.schema) == ("open", {"description": words})


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
