"""Bodies that depend on who asks, and bodies of two kinds as one."""

from __future__ import annotations

from rest_framework import generics, serializers
from rest_framework.response import Response

from drf_mcp.introspection.inspection import make_superuser
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


def body(serializer_class, view_class=generics.CreateAPIView):
    schema = described(type("View", (view_class,), {"serializer_class": serializer_class}), "POST")
    return {field.name: field.required for field in schema.body.fields}, schema.findings


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
    assert body(Choosy) == ({"text": False, "secret": False}, ())


def test_nested_fields_depend_on_the_caller_as_well():
    class Outer(serializers.Serializer):
        rows = Choosy(many=True)

    schema = described(type("View", (generics.CreateAPIView,), {"serializer_class": Outer}), "POST")
    (rows,) = schema.body.fields
    assert rows.schema == {"type": "array", "items": {}}
    assert not any(info.members for info in rows.value_info.values())
    assert schema.findings == ()


def test_what_a_view_remembers_of_one_caller_it_forgets_for_the_other():
    class Remembering(generics.CreateAPIView):
        def get_serializer_class(self):
            if not hasattr(self, "chosen"):
                self.chosen = StaffNote if self.request.user.is_staff else Note
            return self.chosen

    assert "internal" in by_name(described(Remembering, "POST").body.fields)


def test_a_finding_says_where_the_body_of_others_is_of_another_kind():
    class Bulk(generics.CreateAPIView):
        serializer_class = Note

        def get_serializer(self, *args, **kwargs):
            many = self.request.user.is_staff
            return super().get_serializer(*args, **{**kwargs, "many": many})

    schema = described(Bulk, "POST")
    assert {field.name for field in schema.body.fields} == {"text", "level"}
    assert [(each.message, each.remedy) for each in schema.findings] == [
        (
            "Note is described for an anonymous caller.",
            "Name the members of other callers with @mcp_tool(body={...}).",
        )
    ]


def test_no_finding_speaks_of_callers_where_no_code_does():
    assert body(Note) == ({"text": True, "level": False}, ())


def test_a_serializer_that_the_handler_names_is_no_choice_of_the_view():
    class Named(ByClass):
        def post(self, request):
            return Response(Note(data=request.data).is_valid())

    assert described(Named, "POST").findings == ()


def test_a_body_that_fails_for_an_anonymous_caller_is_open():
    class StaffAlone(Choosy):
        def get_fields(self):
            if not self.context["request"].user.is_staff:
                raise PermissionError("staff alone")
            return super().get_fields()

    schema = described(
        type("View", (generics.CreateAPIView,), {"serializer_class": StaffAlone}), "POST"
    )
    assert schema.body.kind == "open"
    assert "staff alone" in schema.findings[0].message
    assert "swagger_fake_view" in schema.findings[0].remedy


class Member:
    """A user as some projects have them, who is a superuser only while a session says so."""

    is_authenticated = True

    @property
    def is_superuser(self):
        return False


def test_a_user_class_may_compute_who_is_a_superuser(monkeypatch):
    monkeypatch.setattr("drf_mcp.introspection.inspection.get_user_model", lambda: Member)
    assert make_superuser().is_superuser is False


def test_one_body_or_a_list_of_them_is_either():
    one = Body("object", fields=(Parameter("text", {"type": "string"}, required=True),))
    rows = Body("list", schema={"type": "array", "items": {}})
    made = one.with_rows(rows)
    assert (made.kind, made.schema) == ("either", rows.schema)
    (text,) = made.fields
    assert text.schema == {"type": "string", "description": "Required for one object."}
    assert not text.required
