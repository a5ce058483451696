"""Bodies that are a list, or that may be one object or a list."""

from __future__ import annotations

from django.contrib.auth.models import Group
from rest_framework import generics, serializers, viewsets
from rest_framework.response import Response

from tests.introspection.inspected import described


class KeySerializer(serializers.Serializer):
    id = serializers.IntegerField()


class NameSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=9)


class Rows(viewsets.GenericViewSet):
    queryset = Group.objects.all()
    serializer_class = NameSerializer
    key_class = KeySerializer

    def bulk_destroy(self, request):
        rows = self.key_class(data=request.data, many=True)
        return Response(rows.is_valid())

    def rename(self, request):
        return Response(NameSerializer(data=request.data).is_valid())

    def amend(self, request):
        return Response(NameSerializer(data=request.data, partial=True).is_valid())

    def amend_in_whole(self, request):
        return Response(NameSerializer(data=request.data, partial=False).is_valid())

    def amend_perhaps(self, request):
        partial = "whole" not in request.GET
        return Response(NameSerializer(data=request.data, partial=partial).is_valid())

    def declared(self, request):
        return Response(self.serializer_class(data=request.data).is_valid())


def test_a_serializer_in_an_attribute_of_the_view_reads_the_body():
    body = described(Rows, "DELETE", "bulk_destroy").body
    assert body.kind == "list"
    items = body.schema["items"]
    assert (list(items["properties"]), items["required"]) == (["id"], ["id"])


def test_a_handler_that_passes_partial_requires_nothing(subtests):
    for action, method, required in [
        ("rename", "PATCH", True),
        ("amend", "PATCH", False),
        ("amend", "PUT", False),
        ("amend", "POST", False),
        ("amend_in_whole", "PATCH", True),
        ("amend_perhaps", "POST", True),
        ("amend_perhaps", "PATCH", False),
    ]:
        with subtests.test(action=action, method=method, required=required):
            (name,) = described(Rows, method, action).body.fields
            assert name.required is required


def test_a_handler_that_calls_partial_update_requires_nothing():
    class Renamed(generics.UpdateAPIView):
        queryset = Group.objects.all()
        serializer_class = NameSerializer

        def post(self, request, *args, **kwargs):
            return self.partial_update(request, *args, **kwargs)

    required = {m: described(Renamed, m).body.fields[0].required for m in ("POST", "PUT", "PATCH")}
    assert required == {"POST": False, "PUT": True, "PATCH": False}


class Bulk(generics.CreateAPIView):
    serializer_class = NameSerializer

    def get_serializer(self, *args, **kwargs):
        if isinstance(kwargs.get("data"), list):
            kwargs["many"] = True
        return super().get_serializer(*args, **kwargs)


class ByMany(generics.GenericAPIView):
    serializer_class = NameSerializer

    def post(self, request):
        many = isinstance(request.data, list)
        return Response(self.get_serializer(data=request.data, many=many).is_valid())


class ByBranch(generics.CreateAPIView):
    serializer_class = NameSerializer

    def create(self, request):
        if not isinstance(request.data, list):
            return super().create(request)
        return Response(self.get_serializer(data=request.data, many=True).is_valid())


def test_a_view_that_takes_one_object_or_a_list_is_described_with_both(subtests):
    for view in [Bulk, ByMany, ByBranch]:
        with subtests.test(view=view):
            body = described(view, "POST").body
            (name,) = body.fields
            assert (body.kind, name.name, name.required) == ("either", "name", False)
            assert name.schema["description"] == "Required for one object."
            assert body.schema["items"]["required"] == ["name"]
