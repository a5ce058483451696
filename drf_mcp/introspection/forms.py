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


class FormField:
    """One field of a serializer as a member of a form.

    Raises:
        ImproperlyConfigured: if no form may ask for it, or none can.
    """

    def __init__(self, field: Any) -> None:
        self.field = field

    @property
    def schema(self) -> dict[str, Any]:
        field = self.field
        if field.write_only or sounds_secret(field.field_name):
            raise Unaskable(IS_SECRET, field)
        schema = {**self.kind, **self.limits}
        if field.label:
            schema["title"] = force_str(field.label)
        if field.help_text:
            schema["description"] = force_str(field.help_text)
        default = field.default
        if default is not empty and isinstance(default, (bool, int, float, str)):
            schema["default"] = default
        return schema

    @property
    def kind(self) -> dict[str, Any]:
        field = self.field
        if isinstance(field, serializers.MultipleChoiceField):
            return {"type": "array", "items": self.get_choices("anyOf", {})}
        if isinstance(field, serializers.ChoiceField):
            return self.get_choices("oneOf", {"type": "string"})
        known = next((TYPES[base] for base in type(field).__mro__ if base in TYPES), None)
        if known is None:
            raise Unaskable(HAS_NO_INPUT, field)
        return dict(known)

    def get_choices(self, keyword: str, kind: dict[str, Any]) -> dict[str, Any]:
        labels = {str(key): force_str(label) for key, label in self.field.choices.items()}
        if all(key == label for key, label in labels.items()):
            return {"type": "string", "enum": list(labels)}
        return {**kind, keyword: [{"const": k, "title": label} for k, label in labels.items()]}

    @property
    def limits(self) -> dict[str, Any]:
        words = NUMBERS if self.kind["type"] in ("integer", "number") else LENGTHS
        found = {word: getattr(self.field, name, None) for name, word in words.items()}
        return {w: float(v) if v % 1 else int(v) for w, v in found.items() if v is not None}


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
        properties = {name: FormField(field).schema for name, field in asked.items()}
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
                FormField(field).schema  # noqa: B018 - reading it is the question
            except Unaskable as exc:
                yield gettext(exc.reason) % exc.facts
