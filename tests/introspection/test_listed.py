"""Lists show schemas that Gemini, Vertex and OpenAI take."""

from __future__ import annotations

import pytest
from django.db import models
from hypothesis import given
from hypothesis import strategies as st
from rest_framework import serializers
from rest_framework.fields import JSONField

from drf_mcp.introspection.described_field import DescribedField
from drf_mcp.introspection.portable import write_listed, write_portable
from tests.introspection.portability import assert_listed


def listed(field):
    schema = write_listed(write_portable(DescribedField(field).input_schema))
    assert_listed(schema)
    return schema


def test_numbers_are_enumerated_in_words():
    level = serializers.ChoiceField([(1, "Low"), (2, "High")])
    assert listed(level) == {"type": "integer", "description": "1 = Low, 2 = High."}


def test_a_number_without_a_label_is_named_among_those_with_one():
    level = serializers.ChoiceField([(1, "Low"), (2, 2), (3, "High")])
    assert listed(level)["description"] == "1 = Low, 2, 3 = High."


def test_numbers_without_labels_are_named():
    assert listed(serializers.ChoiceField([1, 2]))["description"] == "One of 1, 2."


def test_the_help_text_of_an_enumeration_is_kept():
    level = serializers.ChoiceField([1, 2], help_text="How urgent it is", allow_null=True)
    assert listed(level)["description"] == "How urgent it is. May be null. One of 1, 2."


def test_booleans_with_labels_are_written_as_json():
    paid = serializers.ChoiceField([(True, "Paid"), (False, "Open")])
    assert listed(paid) == {"type": "boolean", "description": "true = Paid, false = Open."}


def test_a_boolean_of_either_value_needs_no_words():
    assert listed(serializers.ChoiceField([True, False])) == {"type": "boolean"}


def test_several_numbers_are_named_where_they_are_items():
    levels = serializers.MultipleChoiceField(choices=[(1, "Low"), (2, "High")])
    assert listed(levels) == {
        "type": "array",
        "items": {"type": "integer", "description": "1 = Low, 2 = High."},
    }


def test_texts_stay_enumerated():
    assert listed(serializers.ChoiceField(["a", "b"])) == {"type": "string", "enum": ["a", "b"]}


def test_values_of_several_types_are_named():
    schema = write_listed(write_portable({"enum": ["a", 1, None]}))
    assert schema == {"type": "string", "description": "One of a, 1."}


def test_a_json_field_is_an_object_that_takes_any_value():
    assert listed(JSONField()) == {"type": "object", "description": "Any JSON value."}


def test_a_json_field_has_the_type_of_its_default():
    assert listed(JSONField(default=[]))["type"] == "array"


class Album(models.Model):
    tags = models.JSONField(default=list)

    class Meta:
        app_label = "listed"

    def __str__(self):
        return str(self.pk)


def test_a_json_column_has_the_type_of_its_default():
    class AlbumSerializer(serializers.ModelSerializer):
        class Meta:
            model = Album
            fields = ["tags"]

    assert listed(AlbumSerializer().fields["tags"])["type"] == "array"


def test_items_without_a_type_get_one():
    assert listed(serializers.ListField())["items"]["type"] == "string"


class Money(serializers.IntegerField):
    def to_internal_value(self, data):
        return data


def test_a_field_with_its_own_conversion_has_the_type_that_it_is_meant_to_have():
    assert listed(Money()) == {"type": "integer"}
    assert listed(Money(max_value=9, help_text="In cents")) == {
        "type": "integer",
        "description": "In cents. Meant to be an integer of at most 9.",
    }


def test_either_of_several_types_is_listed_with_the_first():
    schema = write_listed(write_portable({"type": ["integer", "string", "null"]}))
    assert schema["type"] == "integer"
    assert schema["description"] == "May be null. Either an integer or a string."


@pytest.mark.parametrize("seen", ["\x1b", "\x00", "\u202e", "\u2067"])
def test_no_text_has_characters_that_no_reader_sees(seen):
    for schema in (
        {"type": "string", "description": f"Pay{seen} now"},
        {"type": "string", "enum": ["a", f"b{seen}"]},
        {"type": "string", "default": f"b{seen}"},
        {"type": "string", "pattern": f"^[^{seen}]+$"},
    ):
        assert_listed(write_listed(write_portable(schema)))


def test_a_long_description_is_cut_after_a_word():
    schema = write_listed({"type": "string", "description": "word " * 300})
    assert len(schema["description"]) <= 1024
    assert schema["description"].endswith("word…")


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=3,
)
SCHEMAS = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "integer", ["boolean", "null"], "object", "array"]),
            "enum": st.lists(JSON_VALUES, max_size=3),
            "description": st.text(max_size=20),
            "default": JSON_VALUES,
        },
    ),
    lambda inner: (
        st.fixed_dictionaries({}, optional={"items": inner, "anyOf": st.lists(inner, max_size=2)})
        | st.fixed_dictionaries({"properties": st.dictionaries(st.just("a"), inner)})
    ),
    max_leaves=4,
)


@given(SCHEMAS)
def test_every_part_of_any_schema_can_be_listed(schema):
    assert_listed(write_listed(write_portable(schema)))
