"""No field of REST framework is forgotten."""

from __future__ import annotations

import inspect

import pytest
from rest_framework import fields, relations, serializers
from rest_framework.fields import Field

from drf_mcp.introspection.fields import RULES
from drf_mcp.introspection.fields.table import INPUT, OUTPUT, rule_for, unknown

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
    assert RULES
    bare = object.__new__(field_class)
    assert (rule_for(INPUT, bare) is unknown) is (field_class in OPEN_INPUT)
    assert (rule_for(OUTPUT, bare) is unknown) is (field_class in OPEN_OUTPUT)
