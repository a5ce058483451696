"""Serializers and relations: nested objects, lists, keys, recursion."""

from __future__ import annotations

import uuid

from django.apps import apps
from django.contrib.auth.models import Permission, User
from django.db import models
from jsonschema import Draft202012Validator
from rest_framework import serializers
from rest_framework.validators import UniqueForDateValidator, UniqueTogetherValidator

from drf_mcp.introspection.described_field import DescribedField
from drf_mcp.introspection.portable import write_portable
from tests.introspection.inspected import bare, form
from tests.introspection.portability import assert_portable

KEY = {"type": "integer"}
NULL_KEY = {"type": ["integer", "null"]}
NULL_TEXT = {"type": ["string", "null"]}


class Shelf(models.Model):
    """A model whose primary key is a UUID."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    code = models.CharField(max_length=9, unique=True)

    class Meta:
        app_label = "tests"
        managed = False

    def __str__(self) -> str:
        return self.code


class Book(models.Model):
    """A model with several kinds of relation."""

    shelf = models.ForeignKey(Shelf, models.CASCADE, help_text="Where it stands")
    by_code = models.ForeignKey(Shelf, models.CASCADE, to_field="code", related_name="+")
    owner = models.ForeignKey(User, models.DO_NOTHING, null=True, blank=True, related_name="+")
    readers = models.ManyToManyField(User, related_name="+")
    title = models.CharField(max_length=50)
    lent = models.DateField()

    class Meta:
        app_label = "tests"
        managed = False
        unique_together = [("shelf", "title")]

    def __str__(self) -> str:
        return self.title


# Nobody who deletes a user looks for the readers' table, which is not there.
del apps.all_models["tests"]["book_readers"]
apps.clear_cache()


class BookSerializer(serializers.ModelSerializer):
    """All fields of the model."""

    class Meta:
        model = Book
        fields = "__all__"


def field_of(**fields) -> serializers.Field:
    """Return a field bound to a serializer of books."""
    meta = type("Meta", (), {"model": Book, "fields": list(fields)})
    own = type("Own", (serializers.ModelSerializer,), {**fields, "Meta": meta})
    return own().fields[next(iter(fields))]


# Relations


def test_a_model_serializer():
    schema = write_portable(DescribedField(BookSerializer()).input_schema)
    assert_portable(schema)
    assert bare(schema) == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1, "maxLength": 50},
            "lent": form("date"),
            "shelf": form("uuid"),
            "by_code": {"type": "string", "minLength": 1},
            "owner": KEY,
            "readers": {"type": "array", "items": KEY, "minItems": 1},
        },
        "required": ["title", "lent", "shelf", "by_code", "readers"],
    }
    assert bare(DescribedField(BookSerializer()).output_schema) == {
        "type": ["object", "null"],
        "properties": {
            "id": NULL_KEY,
            "title": NULL_TEXT,
            "lent": NULL_TEXT,
            "shelf": NULL_TEXT,
            "by_code": NULL_TEXT,
            "owner": NULL_KEY,
            "readers": {"type": ["array", "null"], "items": NULL_KEY},
        },
    }


def test_descriptions_of_model_fields(subtests):
    for name, words in [
        ("shelf", "Where it stands. Unique together with title. UUID."),
        ("title", "Unique together with shelf."),
        ("owner", "Primary key of the user. May be null."),
        ("by_code", "Code of the shelf."),
    ]:
        with subtests.test(name=name, words=words):
            schema = write_portable(DescribedField(BookSerializer()).input_schema)
            assert schema["properties"][name]["description"] == words


def test_a_relation_has_the_type_of_its_key(subtests):
    for relation, accepts, represents in [
        (serializers.PrimaryKeyRelatedField(queryset=User.objects.all()), KEY, NULL_KEY),
        (serializers.PrimaryKeyRelatedField(queryset=Shelf.objects.all()), form("uuid"), NULL_TEXT),
        (
            serializers.PrimaryKeyRelatedField(
                queryset=Shelf.objects, pk_field=serializers.UUIDField(format="int")
            ),
            {"type": "string"},
            NULL_KEY,
        ),
        (
            serializers.SlugRelatedField("username", queryset=User.objects.all()),
            {"type": "string", "minLength": 1},
            NULL_TEXT,
        ),
        (
            serializers.SlugRelatedField("is_active", queryset=User.objects.all()),
            {"type": "boolean"},
            {"type": ["boolean", "null"]},
        ),
        (
            serializers.SlugRelatedField("content_type__model", queryset=Permission.objects.all()),
            {"type": "string", "minLength": 1},
            NULL_TEXT,
        ),
        (serializers.SlugRelatedField("get_full_name", queryset=User.objects.all()), {}, {}),
        (
            serializers.HyperlinkedRelatedField("x", queryset=User.objects.all()),
            {"type": "string", "minLength": 1},
            NULL_TEXT,
        ),
        (
            serializers.PrimaryKeyRelatedField(
                many=True, queryset=User.objects.all(), allow_empty=False
            ),
            {"type": "array", "items": KEY, "minItems": 1},
            {"type": ["array", "null"], "items": NULL_KEY},
        ),
    ]:
        with subtests.test(relation=relation, accepts=accepts, represents=represents):
            made = field_of(relation=relation)
            assert bare(write_portable(DescribedField(made).input_schema)) == accepts
            assert bare(DescribedField(made).output_schema) == represents


class Closed(models.QuerySet):
    """Raises when its rows are read without a tenant."""

    def all(self):
        raise PermissionError("no tenant")


def test_a_relation_is_described_without_reading_rows():
    made = field_of(user=serializers.PrimaryKeyRelatedField(queryset=Closed(User)))
    assert bare(DescribedField(made).input_schema) == KEY
    assert bare(DescribedField(made).output_schema) == NULL_KEY


# Nested serializers


class LineSerializer(serializers.Serializer):
    """A nested object."""

    product = serializers.CharField()
    quantity = serializers.IntegerField(default=1, min_value=1)
    total = serializers.FloatField(read_only=True)
    secret = serializers.CharField(write_only=True, required=False)
    by = serializers.HiddenField(default="me")


class OrderSerializer(serializers.Serializer):
    """An object with nested ones."""

    lines = LineSerializer(many=True, allow_empty=False, max_length=5, help_text="What")
    gift = LineSerializer(required=False, allow_null=True)


LINE = {
    "type": "object",
    "properties": {
        "product": {"type": "string", "minLength": 1},
        "quantity": {"type": "integer", "minimum": 1, "default": 1},
        "secret": {"type": "string", "minLength": 1},
    },
    "required": ["product"],
}


def test_nested_input():
    schema = write_portable(DescribedField(OrderSerializer()).input_schema)
    assert_portable(schema)
    assert bare(schema) == {
        "type": "object",
        "properties": {
            "lines": {"type": "array", "items": LINE, "minItems": 1, "maxItems": 5},
            "gift": LINE,
        },
        "required": ["lines"],
    }
    assert schema["properties"]["lines"]["description"] == "What."
    assert "description" not in schema["properties"]["lines"]["items"]


def test_nested_output_has_no_write_only_fields():
    line = {"product": NULL_TEXT, "quantity": NULL_KEY, "total": {"type": ["number", "null"]}}
    assert bare(DescribedField(OrderSerializer()).output_schema["properties"]) == {
        "lines": {"type": ["array", "null"], "items": {"type": "object", "properties": line}},
        "gift": {"type": ["object", "null"], "properties": line},
    }


def test_a_partial_update_requires_nothing_at_any_depth():
    schema = DescribedField(OrderSerializer(partial=True)).input_schema
    assert "required" not in schema
    assert "required" not in schema["properties"]["gift"]
    assert "default" not in schema["properties"]["gift"]["properties"]["quantity"]


def test_a_nested_row_with_a_key_field_requires_nothing_in_a_partial_update(subtests):
    for key in ["id", "pk", "uuid"]:
        with subtests.test(key=key):
            rows = type("Rows", (LineSerializer,), {key: serializers.CharField()})
            order = type("Order", (serializers.Serializer,), {"lines": rows(many=True)})
            schema = DescribedField(order(partial=True)).input_schema
            assert "required" not in schema["properties"]["lines"]["items"]


def test_recursion_is_cut():
    class Tree(serializers.Serializer):
        def get_fields(self):
            return {"name": serializers.CharField(), "children": Tree(many=True)}

    schema = write_portable(DescribedField(Tree()).input_schema)
    assert_portable(schema)
    assert schema["properties"]["children"]["items"] == {
        "type": "object",
        "description": "Members as of the object around it.",
    }
    Draft202012Validator.check_schema(DescribedField(Tree()).output_schema)


def test_validators_of_the_serializer_are_in_the_descriptions():
    class Own(serializers.Serializer):
        a = serializers.CharField()
        b = serializers.CharField()
        day = serializers.DateField()

        class Meta:
            validators = [
                UniqueTogetherValidator(User.objects.all(), ["a", "b"]),
                UniqueForDateValidator(User.objects.all(), "a", "day"),
            ]

    properties = DescribedField(Own()).input_schema["properties"]
    assert properties["a"]["description"] == (
        'Unique together with b. This field must be unique for the "day" date.'
    )
    assert properties["b"]["description"] == "Unique together with a."


# Overridden conversions


def test_a_nested_serializer_that_overrides_its_conversion_is_open(subtests):
    for method in ["to_internal_value", "run_validation"]:
        with subtests.test(method=method):
            own = type("Own", (LineSerializer,), {method: lambda self, data: data})
            words = "Meant to be an object with product, quantity, secret."
            assert DescribedField(own()).input_schema == {"description": words}


def test_an_overridden_get_fields_leaves_the_types_of_the_output_open():
    class Own(LineSerializer):
        def get_fields(self):
            return super().get_fields()

    assert DescribedField(Own()).output_schema["properties"] == {
        "product": {},
        "quantity": {},
        "total": {},
    }
