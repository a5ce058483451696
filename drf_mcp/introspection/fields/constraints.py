"""Validators of a field as JSON Schema keywords, or as words where no keyword fits."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, TypeGuard

from django.core import validators
from rest_framework.fields import RegexField, SlugField
from rest_framework.validators import UniqueValidator

from drf_mcp.introspection.field_schema import FieldSchema, explain
from drf_mcp.introspection.patterns import is_ecmascript
from drf_mcp.introspection.source.overrides import find_package
from drf_mcp.introspection.text import listing, text
from drf_mcp.introspection.types import AnyField, Schema

SAFE_INTEGER = 2**53 - 1
FILES = validators.FileExtensionValidator
NUMBERS = ("integer", "number")
LENGTHS = {"string": "Length", "array": "Items"}
UNTOLD = (
    validators.RegexValidator.message,
    RegexField.default_error_messages["invalid"],
    SlugField.default_error_messages["invalid"],
)
"""Messages of pattern validators that say less than the pattern itself."""


def constrain(schema: Schema, field: AnyField) -> Schema:
    """Return the schema narrowed by the field's validators.

    Only Django's and REST framework's own validator classes are read: a subclass may
    judge as it likes. One of file name extensions that only brings a list of them does not.
    """
    for validator in field.validators:
        kind = FILES if is_of_extensions(validator) else type(validator)
        rule = RULES.get(kind)
        if rule is not None:
            schema = rule(schema, field, validator)
    return schema


def at_least(schema: Schema, field: AnyField, validator: validators.MinValueValidator) -> Schema:
    """Read a lower bound."""
    return bounded(schema, "minimum", math.ceil, max, "At least", validator.limit_value)


def at_most(schema: Schema, field: AnyField, validator: validators.MaxValueValidator) -> Schema:
    """Read an upper bound."""
    return bounded(schema, "maximum", math.floor, min, "At most", validator.limit_value)


def bounded(
    schema: Schema,
    keyword: str,
    whole: Callable[[Any], int],
    tightest: Callable[[Any, Any], Any],
    words: str,
    limit: Any,
) -> Schema:
    """Enter a bound as a keyword of a number, or as words."""
    if callable(limit) or "enum" in schema:  # what a callable returns need not hold tomorrow
        return schema
    if schema.get("type") not in NUMBERS:
        return limited(schema, f"{words} {limit}")
    number = whole(limit) if schema["type"] == "integer" else as_number(limit)
    if abs(number) > SAFE_INTEGER:  # a column's own range, which a JavaScript client would round
        return schema
    return schema | {keyword: tightest(schema.get(keyword, number), number)}


def limited(schema: Schema, words: str) -> Schema:
    """Enter a bound as words, for the description and for error messages."""
    limit = f"{words[:1].lower()}{words[1:]}"
    return FieldSchema.of(schema).limited(limit)


def as_number(limit: Any) -> int | float:
    """Return a bound as a JSON number."""
    return limit if isinstance(limit, (int, float)) else float(limit)


def shortest(schema: Schema, field: AnyField, validator: validators.MinLengthValidator) -> Schema:
    """Read a least length."""
    limit = validator.limit_value
    if getattr(field, "allow_blank", False) and not callable(limit):
        return explain(schema, f"At least {limit} characters, or empty")
    return sized(schema, "min", max, limit)


def longest(schema: Schema, field: AnyField, validator: validators.MaxLengthValidator) -> Schema:
    """Read a greatest length."""
    return sized(schema, "max", min, validator.limit_value)


def sized(schema: Schema, end: str, tightest: Callable[[int, int], int], limit: Any) -> Schema:
    """Enter a limit of characters or items."""
    part = LENGTHS.get(schema.get("type", ""))
    if part is None or callable(limit) or "enum" in schema:
        return schema
    keyword = f"{end}{part}"
    return schema | {keyword: tightest(schema.get(keyword, limit), limit)}


def matching(schema: Schema, field: AnyField, validator: validators.RegexValidator) -> Schema:
    """Read a pattern: as a keyword if every client can compile it, in words otherwise."""
    expression: Any = validator.regex
    if validator.inverse_match:
        return explain(schema, message_of(validator), f"Must not match {expression.pattern}")
    # A blank value never reaches the validators, so the pattern must not refuse it.
    blank = getattr(field, "allow_blank", False)
    plain = not expression.flags & ~re.UNICODE and is_ecmascript(expression.pattern)
    if plain and not blank and schema.get("type") == "string" and "pattern" not in schema:
        return explain(schema | {"pattern": expression.pattern}, message_of(validator))
    return explain(schema, message_of(validator) or f"Must match {expression.pattern}")


def message_of(validator: Any) -> str:
    """Return the message a project gave its pattern, "" if it is only the default."""
    message = text(validator.message)
    return "" if message in map(text, UNTOLD) else message


def unique(schema: Schema, field: AnyField, validator: UniqueValidator) -> Schema:
    """Read a uniqueness check."""
    return explain(schema, "Must be unique")


def stepped(schema: Schema, field: AnyField, validator: validators.StepValueValidator) -> Schema:
    """Read a step, which floating point arithmetic keeps out of ``multipleOf``."""
    if callable(validator.limit_value):
        return schema
    return explain(schema, f"In steps of {validator.limit_value}")


def extended(
    schema: Schema, field: AnyField, validator: validators.FileExtensionValidator
) -> Schema:
    """Read the accepted file name extensions."""
    extensions = validator.allowed_extensions
    return explain(schema, f"File types: {listing(extensions)}") if extensions else schema


def is_of_extensions(validator: Any) -> TypeGuard[validators.FileExtensionValidator]:
    """Return True for a validator that judges file name extensions as Django's own does."""
    own = isinstance(validator, validators.FileExtensionValidator)
    return own and find_package(type(validator), "__call__") == "django"


RULES: dict[type, Callable[[Schema, AnyField, Any], Schema]] = {
    validators.MinValueValidator: at_least,
    validators.MaxValueValidator: at_most,
    validators.MinLengthValidator: shortest,
    validators.MaxLengthValidator: longest,
    validators.RegexValidator: matching,
    validators.StepValueValidator: stepped,
    FILES: extended,
    UniqueValidator: unique,
}
