"""A serializer as the form that a client shows to its user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.utils.encoding import force_str
from django.utils.translation import gettext, gettext_noop
from rest_framework import serializers
from rest_framework.fields import empty

from drf_mcp.introspection.names import sounds_secret

# The type and format of each class; a subclass is as its nearest.
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
}
NUMBERS = {"min_value": "minimum", "max_value": "maximum"}
LENGTHS = {"min_length": "minLength", "max_length": "maxLength"}
IS_SECRET = gettext_noop(
    "%(field)s is secret, and a form must not ask for secrets: send the user to a page with visit()"
    " instead."
)
HAS_NO_INPUT = gettext_noop(
    "%(field)s is a %(class)s, for which a form has no input: ask for text, numbers, dates, choices"
    " and yes or no."
)


class Unaskable(ImproperlyConfigured):
    """A field that no form may ask for."""

    def __init__(self, reason: str, field: Any) -> None:
        place = f"{type(field.parent).__name__}.{field.field_name}"
        self.reason, self.facts = reason, {"field": place, "class": type(field).__name__}
        super().__init__(reason % self.facts)


def describe_field(field: Any) -> dict[str, Any]:
    """Return the schema of a serializer's field as a member of a form.

    Raises:
        ImproperlyConfigured: if no form may ask for it, or none can.
    """
    if field.write_only or sounds_secret(field.field_name):
        raise Unaskable(IS_SECRET, field)
    schema = describe_kind(field)
    words = NUMBERS if schema["type"] in ("integer", "number") else LENGTHS
    for name, keyword in words.items():
        if (limit := getattr(field, name, None)) is not None:
            schema[keyword] = float(limit) if limit % 1 else int(limit)
    if field.label:
        schema["title"] = force_str(field.label)
    if field.help_text:
        schema["description"] = force_str(field.help_text)
    default = field.default
    if default is not empty and isinstance(default, (bool, int, float, str)):
        schema["default"] = default
    return schema


def describe_kind(field: Any) -> dict[str, Any]:
    if isinstance(field, serializers.ChoiceField):
        several = isinstance(field, serializers.MultipleChoiceField)
        labels = {str(key): force_str(label) for key, label in field.choices.items()}
        titled = [{"const": key, "title": label} for key, label in labels.items()]
        choices: dict[str, Any] = {"type": "string"}
        if all(key == label for key, label in labels.items()):
            choices["enum"] = list(labels)
        elif several:
            choices = {"anyOf": titled}
        else:
            choices["oneOf"] = titled
        return {"type": "array", "items": choices} if several else choices
    known = next((TYPES[base] for base in type(field).__mro__ if base in TYPES), None)
    if known is None:
        raise Unaskable(HAS_NO_INPUT, field)
    return dict(known)


class Form:
    """What is still to be asked of a serializer's fields.

    Args:
        serializer: an instance.
    """

    def __init__(self, serializer: Any) -> None:
        self.serializer = serializer

    @property
    def fields(self) -> Mapping[str, Any]:
        return {
            name: field
            for name, field in self.serializer.fields.items()
            if not field.read_only and not isinstance(field, serializers.HiddenField)
        }

    def get_schema(self, answered: Mapping[str, Any]) -> dict[str, Any]:
        """Return the schema of a form without the fields that have a value already."""
        asked = {name: field for name, field in self.fields.items() if name not in answered}
        properties = {name: describe_field(field) for name, field in asked.items()}
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        if required := [name for name, field in asked.items() if field.required]:
            schema["required"] = required
        return schema

    def get_values(self, data: Any) -> dict[str, Any]:
        """Return the values that a request's data has for the fields."""
        if not isinstance(data, Mapping):
            return {}
        found = {name: field.get_value(data) for name, field in self.fields.items()}
        return {name: value for name, value in found.items() if value is not empty}

    def find_faults(self) -> Iterator[str]:
        """Yield why fields cannot be asked for, a sentence for each."""
        for field in self.fields.values():
            try:
                describe_field(field)
            except Unaskable as exc:
                yield gettext(exc.reason) % exc.facts
