"""No field of REST framework is forgotten."""

from __future__ import annotations

import inspect

import pytest
from rest_framework import fields, relations, serializers
from rest_framework.fields import Field

from drf_mcp.introspection.fields import FieldDescriber
from drf_mcp.introspection.fields.described import DescribedField

MODULES = (fields, relations, serializers)
CLASSES = {
    target
    for module in MODULES
    for _, target in inspect.getmembers(module, inspect.isclass)
    if issubclass(target, Field) and target.__module__.startswith("rest_framework.")
}
# Nothing is known of what these take or give, by their nature.
OPEN_INPUT = {
    fields.Field,
    fields.ModelField,
    fields.ReadOnlyField,
    fields.HiddenField,
    fields.SerializerMethodField,
    fields._UnvalidatedField,
    relations.RelatedField,
    relations.StringRelatedField,
    serializers.BaseSerializer,
}
OPEN_OUTPUT = OPEN_INPUT - {fields.SerializerMethodField, relations.StringRelatedField}


@pytest.mark.parametrize("field_class", sorted(CLASSES, key=str), ids=lambda c: c.__name__)
def test_every_class_is_described_or_known_to_be_open(field_class):
    describer = type(DescribedField(object.__new__(field_class)).describer)
    for hook, is_open in (
        ("get_input_schema", field_class in OPEN_INPUT),
        ("get_output_schema", field_class in OPEN_OUTPUT),
    ):
        assert (getattr(describer, hook) is getattr(FieldDescriber, hook)) is is_open
