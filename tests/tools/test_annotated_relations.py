"""Fields with a declared schema are described by it, and read values as without it."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import Group
from django.urls import path
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema_field
from rest_framework import generics, serializers

from tests.introspection.inspected import by_name, described

OBJECT = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
    "required": ["id"],
}


@extend_schema_field(OBJECT)
class ByKey(serializers.PrimaryKeyRelatedField):
    """Writes an object and reads a key."""

    def to_representation(self, value):
        return {"id": value.pk}


@extend_schema_field({"type": "object", "properties": {"value": {}, "label": {}}})
class Labelled(serializers.ChoiceField):
    """Writes a choice with its label."""


@extend_schema_field(OBJECT)
class Opaque(serializers.Field):
    """A field whose schema is only known from its declaration."""


ROWS = Group.objects.all()


class Annotated(serializers.Serializer):
    key = ByKey(queryset=ROWS)
    many = ByKey(queryset=ROWS, many=True)
    label = Labelled(choices=["a", "b"], required=False)
    opaque = Opaque()


class Create(generics.CreateAPIView):
    schema = AutoSchema()
    serializer_class = Annotated


@pytest.fixture(scope="module")
def members():
    return {name: p.schema for name, p in by_name(described(Create, "POST").body.fields).items()}


def test_a_field_has_its_declared_schema(members):
    for name in ("key", "label", "opaque"):
        assert members[name]["type"] == "object", name
    assert members["many"]["items"]["type"] == "object"


def test_a_value_is_sent_to_the_view_unchanged(tools_of):
    for portable in [True, False]:
        for value in ["[1]", "plain", 5, {"id": 1}]:
            tool = tools_of(path("groups/", Create.as_view()), PORTABLE=portable)["groups_create"]
            body = json.loads(tool.bind({"key": value, "label": value}).body)
            assert body == {"key": value, "label": value}
