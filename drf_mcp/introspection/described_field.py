"""One serializer field as JSON Schema, in both directions."""

from __future__ import annotations

import inspect
import json
import math
from decimal import Decimal
from enum import Enum
from typing import Any, TypeGuard

from django.core import validators
from django.utils.text import capfirst
from rest_framework.fields import RegexField, SlugField, empty
from rest_framework.validators import UniqueValidator

from drf_mcp.exceptions import attempt
from drf_mcp.introspection import serializer_fields
from drf_mcp.introspection.field_schema import (
    FieldSchema,
    explain,
    join_sentences,
    name_json_type,
)
from drf_mcp.introspection.fields import FieldDescriber
from drf_mcp.introspection.inspection import find_declared_schema
from drf_mcp.introspection.names import translate_pattern
from drf_mcp.introspection.source.members import find_package, is_drf_code
from drf_mcp.introspection.source.overrides import (
    CONVERSIONS,
    converts_like_drf,
    find_rules_of_validator,
    read_rules,
)
from drf_mcp.introspection.text import (
    clean_text,
    describe_intention,
    join_values,
    name_kind,
    says_more,
    with_plural,
)
from drf_mcp.introspection.types import AnyField

# Importing the module registers its describers.
DESCRIBERS = serializer_fields


class DescribedField:
    """The schema of one serializer field, by the `FieldDescriber` of its nearest class."""

    # A field with a conversion of its own may take anything: its schema is open, and says in words
    # what the nearest class with a describer takes.

    def __init__(self, field: AnyField) -> None:
        self.field: Any = field
        registry = FieldDescriber.registry
        owner = next((base for base in type(field).__mro__ if base in registry), object)
        self.describer = registry.get(owner, FieldDescriber)(field, type(self))
        self.described_class = owner

    @property
    def input_schema(self) -> FieldSchema:
        schema = self.accepted_schema
        schema = schema.allow_null() if self.field.allow_null else schema
        return self._with_default(self._add_rules(self._add_purpose(schema)))

    @property
    def intended_schema(self) -> FieldSchema:
        schema = self.accepted_schema
        schema = self._intend(schema) if "type" in schema else schema
        return self._with_default(self._add_rules(self._add_purpose(schema)))

    @property
    def output_schema(self) -> FieldSchema:
        # A serializer writes null for every attribute that is None, ``allow_null`` or not.
        return self._add_purpose(self.represented_schema.allow_null())

    @property
    def accepted_schema(self) -> FieldSchema:
        declared = find_declared_schema(self.field)
        if declared is not None:
            return FieldSchema.of(declared)
        if converts_like_drf(self.field) or all(map(self._is_as_described, CONVERSIONS)):
            return self._described_class_schema
        # The words are only a hint: a field that cannot be described without a caller has none.
        return attempt(lambda: self._intend(self._described_class_schema), FieldSchema())

    @property
    def represented_schema(self) -> FieldSchema:
        if self._is_as_described("to_representation"):
            return FieldSchema.of(self.describer.get_output_schema())
        return FieldSchema()

    @property
    def _described_class_schema(self) -> FieldSchema:
        schema = _add_constraints(self.field, self.describer.get_input_schema())
        # A method of the project's own may read more forms than REST framework's.
        return schema if converts_like_drf(self.field) else schema.without_pattern()

    def _is_as_described(self, method: str) -> bool:
        # A describer for a class of the project's knows the methods of this class.
        definer = next(base for base in type(self.field).__mro__ if method in vars(base))
        return issubclass(self.described_class, definer) or is_drf_code(type(self.field), method)

    def _intend(self, schema: FieldSchema) -> FieldSchema:
        """Return the open schema that says in words what a schema takes."""
        words = describe_intention(schema)
        if not words:
            return FieldSchema()
        own = "" if name_kind(schema) else schema.get("description", "")
        null = "May be null" if self.field.allow_null else ""
        hint = f"Meant to be {words}"
        intended = explain({}, hint, own, null)
        json_type = next(iter(schema.types), "")
        return intended.with_meaning(intention=words, json_type=json_type)

    def _add_purpose(self, schema: FieldSchema) -> FieldSchema:
        """Return a schema whose description begins with the help text, else the label."""
        label = clean_text(getattr(self.field, "label", None))
        label = label if says_more(label, self.field.field_name or "") else ""
        purpose = clean_text(getattr(self.field, "help_text", None)) or label
        description = join_sentences(purpose, schema.get("description", ""))
        return schema | {"description": description} if description else schema

    def _add_rules(self, schema: FieldSchema) -> FieldSchema:
        """Return a schema whose description says what the project's own validation asks."""
        field = self.field
        named = read_rules(type(field.parent)) if field.parent else {}
        rules = named.get(str(field.field_name), ())
        for validator in filter(inspect.isfunction, field.validators):
            rules += find_rules_of_validator(validator)
        return explain(schema, *rules)

    def _with_default(self, schema: FieldSchema) -> FieldSchema:
        # A partial update leaves a missing field as it is.
        is_partial, default = bool(getattr(self.field.root, "partial", False)), self.field.default
        if is_partial or default is empty or callable(default):
            return schema
        json_type = next(iter(schema.types), "")
        default = default.value if isinstance(default, Enum) else default
        if isinstance(default, Decimal):
            default = str(default) if json_type == "string" else float(default)
        try:
            default = json.loads(json.dumps(default, allow_nan=False))
        except (TypeError, ValueError):
            return schema
        kind = name_json_type(default)
        fits = json_type in ("", kind) or (json_type, kind) == ("number", "integer")
        if default is None or not fits or not schema.allows(default):
            return schema
        return schema | {"default": default}


SAFE_INTEGER = 2**53 - 1
NUMBERS = ("integer", "number")
LENGTHS = {"string": "Length", "array": "Items"}
# Messages of pattern validators that say less than the pattern itself.
DEFAULT_MESSAGES = (
    validators.RegexValidator.message,
    RegexField.default_error_messages["invalid"],
    SlugField.default_error_messages["invalid"],
)


def _add_constraints(field: Any, described: Any) -> FieldSchema:
    schema = FieldSchema.of(described)
    allows_blank = getattr(field, "allow_blank", False)
    for validator in field.validators:
        # Exact classes only: a project's subclass may validate in another way. A callable limit may
        # return another number next time.
        kind, limit = type(validator), getattr(validator, "limit_value", 0)
        part = LENGTHS.get(schema.get("type", ""))
        if callable(limit):
            continue
        if kind is validators.MinValueValidator:
            schema = _add_bound(schema, "minimum", limit)
        elif kind is validators.MaxValueValidator:
            schema = _add_bound(schema, "maximum", limit)
        elif kind is validators.MinLengthValidator and allows_blank:
            schema = explain(schema, f"At least {with_plural(limit, 'character')}, or empty")
        elif kind is validators.MinLengthValidator and part and "enum" not in schema:
            schema |= {f"min{part}": max(schema.get(f"min{part}", limit), limit)}
        elif kind is validators.MaxLengthValidator and part and "enum" not in schema:
            schema |= {f"max{part}": min(schema.get(f"max{part}", limit), limit)}
        elif kind is validators.RegexValidator:
            schema = _add_pattern(schema, validator, allows_blank)
        elif kind is validators.StepValueValidator:
            # Not ``multipleOf``: with floats 0.3 is no multiple of 0.1.
            schema = explain(schema, f"In steps of {limit}")
        elif kind is UniqueValidator:
            schema = explain(schema, "Unique")
        elif is_extension_validator(validator) and validator.allowed_extensions:
            names = join_values(validator.allowed_extensions)
            schema = explain(schema, f"File types: {names}")
    return schema


def _add_bound(schema: FieldSchema, keyword: str, limit: Any) -> FieldSchema:
    is_least, kind = keyword == "minimum", schema.get("type")
    if "enum" in schema:
        return schema
    if kind not in NUMBERS:
        # No keyword fits: a sentence in the description, and words for errors.
        words = f"at least {limit}" if is_least else f"at most {limit}"
        limits = (*schema.meaning.limits, words)
        return explain(schema, capfirst(words)).with_meaning(limits=limits)
    number = limit if isinstance(limit, (int, float)) else float(limit)
    if kind == "integer":
        number = math.ceil(limit) if is_least else math.floor(limit)
    # Clients in JavaScript would round the range of a big integer.
    if abs(number) > SAFE_INTEGER:
        return schema
    present = schema.get(keyword, number)
    return schema | {keyword: max(present, number) if is_least else min(present, number)}


def _add_pattern(
    schema: FieldSchema, validator: validators.RegexValidator, allows_blank: bool
) -> Any:
    expression: Any = validator.regex
    message = clean_text(validator.message)
    message = "" if message in map(clean_text, DEFAULT_MESSAGES) else message
    if validator.inverse_match:
        return explain(schema, message, f"Must not match {expression.pattern}")
    portable = translate_pattern(expression.pattern, expression.flags)
    is_text = schema.get("type") == "string" and "pattern" not in schema
    # A blank value never reaches the validators, so the pattern must not refuse it.
    if portable is None or not is_text or allows_blank:
        return explain(schema, message or f"Must match {expression.pattern}")
    return explain(schema | {"pattern": portable}, message)


def is_extension_validator(validator: Any) -> TypeGuard[validators.FileExtensionValidator]:
    own = isinstance(validator, validators.FileExtensionValidator)
    return own and find_package(type(validator), "__call__") == "django"
