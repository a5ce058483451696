"""Bodies that depend on the caller, and bodies that are one object or a list."""

from __future__ import annotations

from rest_framework import generics, serializers

from drf_mcp.introspection.source.members import depends_on_request
from tests.introspection.inspected import by_name, described


class Note(serializers.Serializer):
    text = serializers.CharField()
    level = serializers.ChoiceField(["low"], required=False)


class StaffNote(Note):
    level = serializers.ChoiceField(["low", "high"], required=False)
    internal = serializers.CharField(write_only=True)


class ByClass(generics.CreateAPIView):
    def get_serializer_class(self):
        return StaffNote if self.request.user.is_staff else Note


class Choosy(serializers.Serializer):
    text = serializers.CharField()

    def get_fields(self):
        made = super().get_fields()
        if self.context["request"].user.is_superuser:
            made["text"].required = False
            made["secret"] = serializers.CharField()
        return made


class OfBase(serializers.Serializer):
    text = serializers.CharField()

    def choose(self, made):
        if self.context["request"].user.is_superuser:
            made["text"].required = False
        return made


class OfSubclass(OfBase):
    def get_fields(self):
        return super().choose(super().get_fields())


def body(serializer_class, view_class=generics.CreateAPIView):
    schema = described(type("View", (view_class,), {"serializer_class": serializer_class}), "POST")
    return {field.name: field.required for field in schema.body.fields}, schema.findings


def test_the_fields_for_every_caller_are_described():
    fields = by_name(described(ByClass, "POST").body.fields)
    assert {name: field.required for name, field in fields.items()} == {
        "text": True,
        "level": False,
        "internal": False,
    }
    assert fields["level"].schema == {"type": "string"}
    assert fields["internal"].write_only


def test_one_caller_sends_an_object_and_another_a_list():
    class Bulk(generics.CreateAPIView):
        serializer_class = Note

        def get_serializer(self, *args, **kwargs):
            many = self.request.user.is_staff
            return super().get_serializer(*args, **{**kwargs, "many": many})

    schema = described(Bulk, "POST")
    assert schema.body.kind == "either"
    assert {field.name for field in schema.body.fields} == {"text", "level"}
    assert schema.findings == ()


def test_a_body_that_raises_for_an_anonymous_caller_is_open():
    class StaffAlone(Choosy):
        def get_fields(self):
            if not self.context["request"].user.is_staff:
                raise PermissionError("staff only")
            return super().get_fields()

    schema = described(
        type("View", (generics.CreateAPIView,), {"serializer_class": StaffAlone}), "POST"
    )
    assert schema.body.opened_by
    assert {field.name: field.required for field in schema.body.fields} == {
        "text": False,
        "secret": False,
    }
    assert "staff only" in schema.findings[0].message
    assert "swagger_fake_view" in schema.findings[0].remedy


def test_a_method_of_super_that_another_method_calls_may_choose_the_fields():
    assert depends_on_request(OfSubclass, ("get_fields",))
    assert body(OfSubclass)[0] == {"text": False}
