"""Fields that are annotated as what they give also take what they read."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import Group
from django.urls import path
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema_field
from jsonschema import Draft202012Validator
from rest_framework import generics, serializers

from tests.introspection.inspected import by_name, describe, described, view_of

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


@extend_schema_field(OBJECT)
class ByEither(serializers.PrimaryKeyRelatedField):
    """Reads a key, or an object that has one."""

    def to_internal_value(self, data):
        return super().to_internal_value(data["id"] if isinstance(data, dict) else data)


@extend_schema_field({"type": "object", "properties": {"value": {}, "label": {}}})
class Labelled(serializers.ChoiceField):
    """Gives a choice with its label."""


@extend_schema_field(OBJECT)
class Opaque(serializers.Field):
    """Nobody knows what it reads but who annotated it."""


@extend_schema_field({"type": "string", "format": "uuid"})
class Text(serializers.PrimaryKeyRelatedField):
    """Annotated as a text."""


ROWS = Group.objects.all()


class Annotated(serializers.Serializer):
    key = ByKey(queryset=ROWS)
    either = ByEither(queryset=ROWS, allow_null=True)
    many = ByKey(queryset=ROWS, many=True)
    label = Labelled(choices=["a", "b"], required=False)
    opaque = Opaque()
    text = Text(queryset=ROWS)


class Create(generics.CreateAPIView):
    schema = AutoSchema()
    serializer_class = Annotated


@pytest.fixture(scope="module")
def members():
    return {name: p.schema for name, p in by_name(described(Create, "POST").body.fields).items()}


@pytest.fixture(scope="module")
def whole():
    schema = describe(view_of(Create, "POST"), "POST", {}, portable=False)
    return {name: parameter.schema for name, parameter in by_name(schema.body.fields).items()}


def test_a_key_is_told_beside_the_object(members):
    words = "Primary key of the group. Either an integer or an object with id, name."
    assert members["key"] == {"description": words}


def test_each_of_many_may_be_a_key(members):
    assert members["many"]["type"] == "array"
    assert "Either an integer or an object" in members["many"]["items"]["description"]


def test_a_choice_is_told_beside_what_it_is_given_as(members):
    words = "One of a, b. Either a string or an object with value, label."
    assert members["label"] == {"description": words}


def test_a_field_of_which_nothing_else_is_known_is_what_was_written(members):
    assert members["opaque"]["type"] == "object"


def test_an_annotation_of_a_text_stays_as_it_is(members):
    assert members["text"] == {"type": "string", "description": "UUID."}


def test_both_are_valid_in_all_of_json_schema(whole):
    for name, values in [
        ("key", [5, {"id": 5}]),
        ("either", [5, "5", {"id": 5}, None]),
        ("many", [[5, {"id": 5}]]),
        ("label", ["a", {"value": "a", "label": "A"}]),
    ]:
        for value in values:
            Draft202012Validator(whole[name]).validate(value)


def test_what_is_neither_is_not_valid_in_all_of_json_schema(whole):
    assert not Draft202012Validator(whole["key"]).is_valid("five")
    assert not Draft202012Validator(whole["key"]).is_valid({"name": "five"})


def test_a_value_reaches_the_view_as_it_was_sent(tools_of):
    for portable in [True, False]:
        for value in ['{"id": 1}', "[1]", "plain", 5, {"id": 1}]:
            tool = tools_of(path("groups/", Create.as_view()), PORTABLE=portable)["groups_create"]
            body = json.loads(tool.bind({"key": value, "label": value}).body)
            assert body == {"key": value, "label": value}
