"""A serializer as the form in which a client asks its user for values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.utils.encoding import force_str
from rest_framework import serializers
from rest_framework.fields import empty

from drf_mcp.introspection.names import sounds_secret

# The type and format of each field class; a subclass is described as its nearest base.
TYPES: Mapping[type, dict[str, str]] = {
    serializers.BooleanField: {"type": "boolean"},
    serializers.IntegerField: {"type": "integer"},
    serializers.FloatField: {"type": "number"},
    serializers.DecimalField: {"type": "number"},
    serializers.EmailField: {"type": "string", "format": "email"},
    serializers.URLField: {"type": "string", "format": "uri"},
    serializers.DateField: {"type": "string", "format": "date"},
    serializers.DateTimeField: {"type": "string", "format": "date-time"},
    serializers.CharField: {"type": "string"},
    serializers.TimeField: {"type": "string"},
    serializers.DurationField: {"type": "string"},
    serializers.UUIDField: {"type": "string"},
    serializers.PrimaryKeyRelatedField: {"type": "string"},
    serializers.SlugRelatedField: {"type": "string"},
    serializers.ChoiceField: {"type": "string"},
}
NUMBERS = {"min_value": "minimum", "max_value": "maximum"}
LENGTHS = {"min_length": "minLength", "max_length": "maxLength"}


def describe_form(serializer: Any, answered: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a form for the fields of a serializer that have no value yet.

    Raises:
        ImproperlyConfigured: if a form must not ask for one of the fields, or has no input for it.
    """
    asked = {n: field for n, field in find_writable_fields(serializer).items() if n not in answered}
    properties = {name: describe_field(field) for name, field in asked.items()}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required := [name for name, field in asked.items() if field.required]:
        schema["required"] = required
    return schema


def find_values(serializer: Any, data: Any) -> dict[str, Any]:
    """Return the values that a request's data has for the fields of a serializer."""
    if not isinstance(data, Mapping):
        return {}
    found = {
        name: field.get_value(data) for name, field in find_writable_fields(serializer).items()
    }
    return {name: value for name, value in found.items() if value is not empty}


def find_writable_fields(serializer: Any) -> Mapping[str, Any]:
    """Return the fields for which a request may send values, by name."""
    return {
        name: field
        for name, field in serializer.fields.items()
        if not field.read_only and not isinstance(field, serializers.HiddenField)
    }


def find_faults(serializer: Any) -> Iterator[str]:
    """Yield why fields cannot be asked for, a sentence for each."""
    yield from filter(None, map(find_fault, find_writable_fields(serializer).values()))


def find_fault(field: Any) -> str:
    place = f"{type(field.parent).__name__}.{field.field_name}"
    if field.write_only or sounds_secret(field.field_name):
        return (
            f"{place} is secret, and a form must not ask for secrets: send the user to a page "
            "with visit() instead."
        )
    if any(base in TYPES for base in type(field).__mro__):
        return ""
    return (
        f"{place} is a {type(field).__name__}, for which a form has no input: ask for text, "
        "numbers, dates, choices and yes or no."
    )


def describe_field(field: Any) -> dict[str, Any]:
    if fault := find_fault(field):
        raise ImproperlyConfigured(fault)
    schema: dict[str, Any] = dict(next(TYPES[b] for b in type(field).__mro__ if b in TYPES))
    words = NUMBERS if schema["type"] in ("integer", "number") else LENGTHS
    if isinstance(field, serializers.ChoiceField):
        several = isinstance(field, serializers.MultipleChoiceField)
        labels = {str(key): force_str(label) for key, label in field.choices.items()}
        titled = [{"const": key, "title": label} for key, label in labels.items()]
        if all(key == label for key, label in labels.items()):
            schema["enum"] = list(labels)
        elif several:
            schema = {"anyOf": titled}
        else:
            schema["oneOf"] = titled
        schema = {"type": "array", "items": schema} if several else schema
    for name, keyword in words.items():
        if (limit := getattr(field, name, None)) is not None:
            schema[keyword] = float(limit) if limit % 1 else int(limit)
    if field.label:
        schema["title"] = force_str(field.label)
    if field.help_text:
        schema["description"] = force_str(field.help_text)
    if field.default is not empty and isinstance(field.default, (bool, int, float, str)):
        schema["default"] = field.default
    return schema
