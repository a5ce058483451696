"""Request bodies: which serializer reads them, and how they are described."""

from __future__ import annotations

import functools

from django.contrib.auth.models import Group
from rest_framework import generics, serializers, views, viewsets
from rest_framework.decorators import action, api_view
from rest_framework.response import Response

from drf_mcp import call_context
from tests.introspection.inspected import by_name, describe, described, schemas, view_of

TEXT = {"type": "string", "minLength": 1}


class NameSerializer(serializers.Serializer):
    name = serializers.CharField()
    id = serializers.IntegerField(read_only=True)


class ReasonSerializer(serializers.Serializer):
    reason = serializers.CharField()


def hand_to_service(request):
    """Reads the body."""
    return request.data["name"]


def log_call(request):
    """Does not read the body."""
    return request.method


def quietly(handler):
    """Decorate with functools.wraps."""

    @functools.wraps(handler)
    def wrapper(self, request, *args, **kwargs):
        return handler(self, request, *args, **kwargs)

    return wrapper


def silently(handler):
    """Decorate without functools.wraps."""

    def wrapper(*args, **kwargs):
        return handler(*args, **kwargs)

    return wrapper


class Things(viewsets.ModelViewSet):
    queryset = Group.objects.all()
    serializer_class = NameSerializer

    @action(detail=True, methods=["post", "delete"])
    def cancel(self, request, pk):
        thing = self.get_object()
        return Response(self.get_serializer(thing).data)

    @action(detail=True, methods=["post"])
    def logged(self, request, pk):
        log_call(request)
        self.check_object_permissions(request, None)
        return Response(request.user.pk)

    @action(detail=True, methods=["post"])
    def noted(self, request, pk):
        call_context(request).warn("Old.")
        return Response(request.user.pk)

    @action(detail=True, methods=["post"])
    @quietly
    def decorated(self, request, pk):
        return Response()

    @action(detail=True, methods=["post"])
    @silently
    def wrapped(self, request, pk):
        return Response()

    @action(detail=True, methods=["post"])
    @silently
    def wrapped_rename(self, request, pk):
        return self.rename(request, pk)

    @action(detail=True, methods=["post"])
    def rename(self, request, pk):
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response()

    @action(detail=True, methods=["post", "delete"])
    def refuse(self, request, pk):
        serializer = ReasonSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response()

    @action(detail=True, methods=["post", "delete"])
    def raw(self, request, pk):
        return Response(self.request.data["name"])

    @action(detail=True, methods=["post"])
    def indirect(self, request, pk):
        return self._read()

    def _read(self):
        return Response(self.request.POST)

    @action(detail=True, methods=["post"])
    def served(self, request, pk):
        return Response(hand_to_service(request))

    @action(detail=True, methods=["post"])
    def dynamic(self, request, pk):
        return Response(getattr(request, "data"))  # noqa: B009

    @action(detail=True, methods=["post"], serializer_class=ReasonSerializer)
    def explain(self, request, pk):
        return Response(self.kwargs["service"](request))

    @action(detail=False, methods=["post"])
    def bulk(self, request):
        serializer = ReasonSerializer(data=request.data, many=True)
        serializer.is_valid(raise_exception=True)
        return Response()

    @action(detail=False, methods=["post"])
    def bulk_own(self, request):
        serializer = self.get_serializer(data=request.data, many=True)
        serializer.is_valid(raise_exception=True)
        return Response()

    @action(detail=True, methods=["post"])
    def given(self, request, pk, data=None):
        return Response(ReasonSerializer(data=data or request.data).is_valid())

    @action(detail=True, methods=["post"])
    def copied(self, request, pk):
        return Response(ReasonSerializer(data=request.data.copy()).is_valid())

    @action(detail=False, methods=["post"])
    def another(self, request):
        return self.create(request)

    @action(detail=False, methods=["post"])
    def either(self, request):
        if request.user.is_staff:
            return Response(NameSerializer(data=request.data).is_valid())
        return Response(ReasonSerializer(data=request.data).is_valid())


def test_the_body_is_what_the_handler_reads(subtests):
    for method, name, kind in [
        ("GET", "list", "none"),
        ("GET", "retrieve", "none"),
        ("DELETE", "destroy", "none"),
        ("POST", "create", ["name"]),
        ("PUT", "update", ["name"]),
        ("POST", "cancel", "none"),
        ("DELETE", "cancel", "none"),
        ("POST", "logged", "none"),
        ("POST", "noted", "none"),
        ("POST", "decorated", "none"),
        ("POST", "wrapped", "none"),
        ("POST", "wrapped_rename", ["name"]),
        ("POST", "rename", ["name"]),
        ("POST", "refuse", ["reason"]),
        ("DELETE", "refuse", ["reason"]),
        ("POST", "raw", ["name"]),
        ("DELETE", "raw", ["name"]),
        ("POST", "indirect", "open"),
        ("POST", "served", ["name"]),
        ("POST", "dynamic", "open"),
        ("POST", "given", ["reason"]),
        ("POST", "copied", ["reason"]),
        ("POST", "bulk", "list"),
        ("POST", "bulk_own", "list"),
        ("POST", "another", ["name"]),
    ]:
        with subtests.test(method=method, name=name, kind=kind):
            schema = described(Things, method, name)
            body = schema.body
            assert bool(schema.findings) == (kind == "open")
            if isinstance(kind, list):
                assert body.kind == "object"
                assert [parameter.name for parameter in body.fields] == kind
                assert {p.required for p in body.fields} == {method != "DELETE"}
            else:
                assert body.kind == kind


def test_an_open_body_is_a_finding_with_a_remedy():
    schema = described(Things, "POST", "dynamic")
    assert (schema.body.kind, "type" in schema.body.schema) == ("open", False)
    (finding,) = schema.findings
    assert finding.place == "tests.introspection.test_bodies.Things.dynamic"
    assert "serializer_class" in finding.remedy


def test_a_list_body_is_one_schema():
    body = described(Things, "POST", "bulk").body
    assert body.schema == {
        "type": "array",
        "items": {"type": "object", "properties": {"reason": TEXT}, "required": ["reason"]},
    }


def test_a_partial_update_requires_nothing():
    (name,) = described(Things, "PATCH", "partial_update").body.fields
    assert (name.name, name.required) == ("name", False)


# Which serializer


class Create(generics.CreateAPIView):
    serializer_class = NameSerializer


def test_the_serializer_is_that_of_the_action():
    class Own(Things):
        def get_serializer_class(self):
            return ReasonSerializer if self.action == "create" else NameSerializer

    assert [field.name for field in described(Own, action="create").body.fields] == ["reason"]


def test_a_serializer_of_the_view_that_a_route_replaces_is_the_one_of_the_route():
    class Own(Things):
        @action(detail=False, methods=["post"], serializer_class=ReasonSerializer)
        def directly(self, request):
            return Response(self.serializer_class(data=request.data).is_valid())

        @action(detail=False, methods=["post"], serializer_class=ReasonSerializer)
        def by_variable(self, request):
            kind = self.serializer_class
            return Response(kind(data=request.data).is_valid())

    for name in ("directly", "by_variable"):
        view = view_of(Own, "POST", name, serializer_class=ReasonSerializer)
        assert [field.name for field in describe(view, "POST", {}).body.fields] == ["reason"]


def test_a_handler_that_hands_its_request_on_may_read_any_member():
    schema = described(Things, "POST", "explain")
    assert [parameter.name for parameter in schema.body.fields] == ["reason"]
    assert schema.body.opened_by.endswith("hands the request on")
    assert "test_bodies.py" in schema.findings[0].message


def test_a_handler_that_makes_one_of_two_serializers_takes_the_fields_of_both():
    body = described(Things, "POST", "either").body
    assert {parameter.name: parameter.required for parameter in body.fields} == {
        "name": False,
        "reason": False,
    }
    assert body.opened_by


def test_if_get_serializer_raises_the_serializer_class_is_described():
    class Own(Create):
        def get_serializer(self, *args, **kwargs):
            return super().get_serializer(*args, tenant=self.request.tenant, **kwargs)

    schema = described(Own, "POST")
    assert [field.name for field in schema.body.fields] == ["name"]
    assert schema.body.opened_by
    assert "has no attribute 'tenant'" in schema.findings[0].message


def test_if_get_serializer_class_raises_the_declared_class_is_described():
    class Own(Create):
        def get_serializer_class(self):
            return self.request.tenant.serializer_class

    assert [field.name for field in described(Own, "POST").body.fields] == ["name"]


def test_without_a_serializer_the_body_is_open():
    class Own(Create):
        serializer_class = None

        def get_serializer_class(self):
            return self.request.tenant.serializer_class

    schema = described(Own, "POST")
    assert schema.body.kind == "open"
    assert "tenant" in schema.findings[0].message
    assert "swagger_fake_view" in schema.findings[0].remedy


class Plain(views.APIView):
    def post(self, request):
        return Response(request.data)

    def put(self, request):
        return Response(NameSerializer(data=request.data).is_valid())

    def delete(self, request):
        return Response()

    def patch(self, request):
        return Response()

    def get(self, request):
        return Response()


def test_the_body_of_a_plain_view(subtests):
    for method, kind in [
        ("GET", "none"),
        ("PATCH", "none"),
        ("POST", "open"),
        ("PUT", "object"),
        ("DELETE", "none"),
        ("HEAD", "none"),
    ]:
        with subtests.test(method=method, kind=kind):
            assert described(Plain, method).body.kind == kind


@api_view(["POST", "DELETE"])
def function(request):
    serializer = NameSerializer(data=request.data)
    return Response(serializer.is_valid())


# What is described


def test_a_field_that_cannot_be_described_is_open_and_the_others_are_described():
    class Broken(serializers.PrimaryKeyRelatedField):
        def get_queryset(self):
            return self.context["request"].user.groups.all().nothing

    class Mixed(serializers.Serializer):
        group = Broken()
        name = serializers.CharField()

    schema = described(type("Own", (Create,), {"serializer_class": Mixed}), "POST")
    assert schemas(schema.body.fields) == {"group": {}, "name": TEXT}
    assert by_name(schema.body.fields)["group"].required
    assert "'group'" in schema.findings[0].remedy


def test_fields_are_optional_hints_if_to_internal_value_is_extended():
    class Own(NameSerializer):
        def to_internal_value(self, data):
            return super().to_internal_value({"name": "a", **data})

    (name,) = described(type("View", (Create,), {"serializer_class": Own}), "POST").body.fields
    words = "Meant to be a string. Meant to be required."
    assert (name.name, name.schema, name.required) == ("name", {"description": words}, False)


def test_a_serializer_that_replaces_to_internal_value_is_open():
    class Own(NameSerializer):
        def to_internal_value(self, data):
            return {"name": data[0]}

    schema = described(type("View", (Create,), {"serializer_class": Own}), "POST")
    assert schema.body.kind == "open"
    assert len(schema.findings) == 1
