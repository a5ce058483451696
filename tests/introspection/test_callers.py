"""Bodies that depend on who asks, described for anybody."""

from __future__ import annotations

from rest_framework import generics, serializers

from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.introspection.request_body import RequestBody
from drf_mcp.introspection.types import Body, Parameter
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


class Outer(serializers.Serializer):
    rows = Choosy(many=True)


class StaffAlone(Choosy):
    def get_fields(self):
        if not self.context["request"].user.is_staff:
            raise PermissionError("staff alone")
        return super().get_fields()


class AnonymousAlone(Choosy):
    def get_fields(self):
        made = super().get_fields()
        self.context["request"].user.groups  # noqa: B018 - an unsaved user has none
        return made


class Remembering(generics.CreateAPIView):
    """A view that chooses once."""

    def get_serializer_class(self):
        if not hasattr(self, "chosen"):
            self.chosen = StaffNote if self.request.user.is_staff else Note
        return self.chosen


def body(serializer_class, **attributes):
    attributes = {"serializer_class": serializer_class, **attributes}
    described_view = described(type("View", (generics.CreateAPIView,), attributes), "POST")
    return described_view.body, described_view.findings


def test_the_fields_of_every_caller_are_described():
    fields = by_name(described(ByClass, "POST").body.fields)
    assert {name: field.required for name, field in fields.items()} == {
        "text": True,
        "level": False,
        "internal": False,
    }
    assert fields["level"].schema == {"type": "string"}
    assert fields["internal"].write_only


def test_nothing_is_required_that_some_caller_may_leave_out():
    assert {field.name: field.required for field in body(Choosy)[0].fields} == {
        "text": False,
        "secret": False,
    }


def test_nested_fields_depend_on_the_caller_as_well():
    (rows,) = body(Outer)[0].fields
    assert set(rows.schema["items"]["properties"]) == {"text", "secret"}
    assert "required" not in rows.schema["items"]


def test_a_body_for_staff_alone_is_described_as_staff_sends_it():
    made, _ = body(StaffAlone)
    assert {field.name for field in made.fields} == {"text", "secret"}


class Member:
    """A user as some projects have them, who is a superuser only while a session says so."""

    is_authenticated = True

    @property
    def is_superuser(self):
        return False


def test_a_user_class_may_compute_who_is_a_superuser(monkeypatch):
    monkeypatch.setattr("drf_mcp.introspection.inspection.get_user_model", lambda: Member)
    made, findings = body(StaffAlone)
    assert {field.name for field in made.fields} == {"text"}
    assert not any("is_superuser" in finding.message for finding in findings)


def test_a_superuser_who_cannot_be_asked_changes_nothing():
    made, findings = body(AnonymousAlone)
    assert "text" in {field.name for field in made.fields}
    assert findings == ()


def test_a_serializer_that_depends_on_nobody_is_described_once(monkeypatch):
    described_for = []
    get_body = RequestBody.get_body
    monkeypatch.setattr(
        RequestBody, "get_body", lambda self: described_for.append(self) or get_body(self)
    )
    described(type("View", (generics.CreateAPIView,), {"serializer_class": Note}), "POST")
    assert len(described_for) == 1


def test_bodies_of_two_kinds_are_open():

    assert Body("object").union(Body("none")).kind == "open"
    assert Body("open", schema={}).union(Body("list", schema={})).kind == "open"


def test_one_body_or_a_list_of_them_is_either():

    one = Body("object", fields=(Parameter("text", {"type": "string"}, required=True),))
    rows = Body("list", schema={"type": "array", "items": {}})
    made = one.union(rows)
    assert (made.kind, made.schema) == ("either", rows.schema)
    (text,) = made.fields
    assert text.schema == {"type": "string", "description": "Required for one object."}
    assert not text.required
    assert made.union(one).kind == rows.union(made).kind == "either"


def test_either_of_two_schemas_keeps_what_both_say():
    first = {"type": "string", "minLength": 2, "maxLength": 5}
    second = {"type": "string", "minLength": 3, "maxLength": 5}
    assert FieldSchema(first).union(second) == {"type": "string", "maxLength": 5}


def test_what_a_view_remembers_of_one_caller_it_forgets_for_the_other():
    assert "internal" in by_name(described(Remembering, "POST").body.fields)
