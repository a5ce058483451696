"""Choices: enumerations that keep the type of their values, labels in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from rest_framework import fields

from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.fields.table import accepts, array_of, represents
from drf_mcp.introspection.text import listing, says_more, text
from drf_mcp.introspection.types import Schema


def plain(value: Any) -> Any:
    """Return a choice as a JSON scalar; REST framework compares choices by `str`."""
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, (bool, int, float)):
        return value
    return str(value)


def enumeration(values: Iterable[Any]) -> Schema:
    """Return the schema of one of some values, None left out.

    Values of several types, and whole floats (which JSON may write as integers), are
    given as the strings that REST framework takes just as well.
    """
    scalars = [plain(value) for value in values if value is not None]
    json_type = common_type(scalars)
    if json_type == "string":
        scalars = [str(scalar) for scalar in scalars]
    unique = list(dict.fromkeys(scalars))
    return {"type": json_type, "enum": unique} if unique else {"type": json_type}


def common_type(scalars: list[Any]) -> str:
    """Return the one JSON type of some scalars, ``string`` if they have none in common."""
    kinds = {type(scalar) for scalar in scalars}
    if kinds == {bool}:
        return "boolean"
    if kinds and all(issubclass(kind, int) and kind is not bool for kind in kinds):
        return "integer"
    if kinds == {float} and not any(scalar.is_integer() for scalar in scalars):
        return "number"
    return "string"


def labels(choices: Mapping[Any, Any]) -> str:
    """Return what values stand for, as far as the labels say more than the values."""
    told = [
        f"{plain(value)} = {text(label)}"
        for value, label in choices.items()
        if value is not None and says_more(text(label), str(plain(value)))
    ]
    return listing(told)


@accepts(fields.ChoiceField)
def choice(field: fields.ChoiceField) -> Schema:
    """Describe one of the choices, blank among them where the field allows it."""
    blank = [""] if field.allow_blank else []
    return explain(enumeration([*field.choices, *blank]), labels(field.choices))


@accepts(fields.MultipleChoiceField)
def choices(field: fields.MultipleChoiceField) -> Schema:
    """Describe a list of choices."""
    return explain(array_of(enumeration(field.choices), field), labels(field.choices))


@represents(fields.ChoiceField)
def choice_output(field: fields.ChoiceField) -> Schema:
    """Describe a choice given: a stored value that is no choice comes out as it is."""
    return explain({}, told(field))


@represents(fields.MultipleChoiceField)
def choices_output(field: fields.MultipleChoiceField) -> Schema:
    """Describe a list of choices given."""
    return explain({"type": "array", "items": {}}, told(field))


def told(field: fields.ChoiceField) -> str:
    """Return the choices and what they stand for, in words."""
    values = [value for value in field.choices if value not in (None, "")]
    words = listing(labels({value: field.choices[value]}) or plain(value) for value in values)
    return f"One of: {words}" if words else ""
