"""Views whose path, query and body have arguments with the same names."""

from __future__ import annotations

from django.http import QueryDict
from django.urls import path
from rest_framework import generics, serializers
from rest_framework.filters import BaseFilterBackend
from rest_framework.views import APIView


class Declared(BaseFilterBackend):
    """Declares query parameters in every style."""

    def filter_queryset(self, request, queryset, view):
        return queryset

    def get_schema_operation_parameters(self, view) -> list[dict]:
        def parameter(name, **schema):
            return {"name": name, "in": "query", "schema": schema}

        numbers = {"type": "array", "items": {"type": "integer"}}
        return [
            parameter("name", type="string"),
            parameter("page[size]", type="integer"),
            parameter("open", type="boolean"),
            parameter("key", type="string"),
            {**parameter("repeat", **numbers), "explode": True},
            {**parameter("comma", **numbers), "explode": False},
        ]


class BoxSerializer(serializers.Serializer):
    name = serializers.CharField()
    key = serializers.CharField(required=False)
    size = serializers.IntegerField(required=False, allow_null=True)
    tags = serializers.ListField(child=serializers.CharField(), required=False)
    owner = serializers.DictField(required=False)


BoxSerializer._declared_fields["lid-colour"] = serializers.CharField(required=False)


class Boxes(generics.CreateAPIView):
    """Creates and filters, so that names of the body and the query clash."""

    serializer_class = BoxSerializer
    filter_backends = [Declared]

    def post(self, request, *args, **kwargs):
        self.filter_queryset(None)
        return self.create(request, *args, **kwargs)


class ManyBoxes(Boxes):
    def get_serializer(self, *args, **kwargs):
        return super().get_serializer(*args, many=True, **kwargs)


class Anything(APIView):
    def post(self, request):
        return request.data

    def get(self, request): ...

    def delete(self, request): ...


KEYED = path("boxes/<slug:key>/", Boxes.as_view())

EXTRA = {"query": {"include": "lines", "depth": 2, "flag": True, "many": ["a", "b"], "no": None}}
EXTRA_QUERY = {"include": ["lines"], "depth": ["2"], "flag": ["true"], "many": ["a", "b"]}


def query_of(call) -> dict[str, list[str]]:
    return dict(QueryDict(call.query_string).lists())
