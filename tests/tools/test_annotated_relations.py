"""Fields that are annotated are described as they are annotated, and take what they read."""

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
    """Gives an object, reads a key."""

    def to_representation(self, value):
        return {"id": value.pk}


@extend_schema_field({"type": "object", "properties": {"value": {}, "label": {}}})
class Labelled(serializers.ChoiceField):
    """Gives a choice with its label."""


@extend_schema_field(OBJECT)
class Opaque(serializers.Field):
    """Nobody knows what it reads but who annotated it."""


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


def test_a_field_is_described_as_it_is_annotated(members):
    for name in ("key", "label", "opaque"):
        assert members[name]["type"] == "object", name
    assert members["many"]["items"]["type"] == "object"


def test_a_value_reaches_the_view_as_it_was_sent(tools_of):
    for portable in [True, False]:
        for value in ["[1]", "plain", 5, {"id": 1}]:
            tool = tools_of(path("groups/", Create.as_view()), PORTABLE=portable)["groups_create"]
            body = json.loads(tool.bind({"key": value, "label": value}).body)
            assert body == {"key": value, "label": value}
