"""Validators of a field as JSON Schema keywords, or as words where no keyword fits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, TypeGuard

from django.core import validators
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop, ngettext
from rest_framework.fields import RegexField, SlugField
from rest_framework.validators import UniqueValidator

from drf_mcp.introspection.field_schema import FieldSchema, Limit, explain
from drf_mcp.introspection.names import translate_pattern
from drf_mcp.introspection.source.members import find_package
from drf_mcp.introspection.text import clean_text, join_values

SAFE_INTEGER = 2**53 - 1
NUMBERS = ("integer", "number")
LENGTHS = {"string": "Length", "array": "Items"}
# Where no keyword fits: a sentence, and the words that go with others.
LIMITS = {
    "minimum": (gettext_noop("At least %(limit)s"), gettext_lazy("at least %(limit)s")),
    "maximum": (gettext_noop("At most %(limit)s"), gettext_lazy("at most %(limit)s")),
}
# Messages of pattern validators that say less than the pattern itself.
DEFAULT_MESSAGES = (
    validators.RegexValidator.message,
    RegexField.default_error_messages["invalid"],
    SlugField.default_error_messages["invalid"],
)


class ConstraintReader:
    # By exact class: a project's subclass may judge as it likes.
    readers: ClassVar[dict[type, str]] = {
        validators.MinValueValidator: "read_minimum",
        validators.MaxValueValidator: "read_maximum",
        validators.MinLengthValidator: "read_least_length",
        validators.MaxLengthValidator: "read_greatest_length",
        validators.RegexValidator: "read_pattern",
        validators.StepValueValidator: "read_step",
        validators.FileExtensionValidator: "read_extensions",
        UniqueValidator: "read_uniqueness",
    }

    def __init__(self, field: Any, schema: Any) -> None:
        self.schema = FieldSchema.of(schema)
        self.field = field
        self.allows_blank = getattr(field, "allow_blank", False)

    def read(self) -> FieldSchema:
        for validator in self.field.validators:
            lists = is_extension_validator(validator)
            kind = validators.FileExtensionValidator if lists else type(validator)
            if kind in self.readers:
                getattr(self, self.readers[kind])(validator)
        return self.schema

    def explain(self, *sentences: str) -> None:
        self.schema = FieldSchema.of(explain(self.schema, *sentences))

    def read_minimum(self, validator: validators.MinValueValidator) -> None:
        self.bound("minimum", math.ceil, max, validator.limit_value)

    def read_maximum(self, validator: validators.MaxValueValidator) -> None:
        self.bound("maximum", math.floor, min, validator.limit_value)

    def bound(
        self,
        keyword: str,
        to_whole: Callable[[Any], int],
        tightest: Callable[[Any, Any], Any],
        limit: Any,
    ) -> None:
        # A callable may return another limit tomorrow.
        if callable(limit) or "enum" in self.schema:
            return
        kind = self.schema.get("type")
        if kind not in NUMBERS:
            sentence, words = LIMITS[keyword]
            text = _(sentence) % {"limit": limit}
            self.schema = self.schema.with_limit(text, Limit(words, limit))
            return
        number = limit if isinstance(limit, (int, float)) else float(limit)
        number = to_whole(limit) if kind == "integer" else number
        # A JavaScript client would round the range of a column.
        if abs(number) <= SAFE_INTEGER:
            self.tighten(keyword, tightest, number)

    def tighten(self, keyword: str, tightest: Callable[[Any, Any], Any], limit: Any) -> None:
        self.schema = self.schema | {keyword: tightest(self.schema.get(keyword, limit), limit)}

    def read_least_length(self, validator: validators.MinLengthValidator) -> None:
        limit = validator.limit_value
        if self.allows_blank and not callable(limit):
            words = ngettext(
                "At least %(count)s character, or empty",
                "At least %(count)s characters, or empty",
                limit,
            )
            self.explain(words % {"count": limit})
        else:
            self.bound_length("min", max, limit)

    def read_greatest_length(self, validator: validators.MaxLengthValidator) -> None:
        self.bound_length("max", min, validator.limit_value)

    def bound_length(self, end: str, tightest: Callable[[int, int], int], limit: Any) -> None:
        part = LENGTHS.get(self.schema.get("type", ""))
        if part is not None and not callable(limit) and "enum" not in self.schema:
            self.tighten(f"{end}{part}", tightest, limit)

    def read_pattern(self, validator: validators.RegexValidator) -> None:
        expression: Any = validator.regex
        facts = {"pattern": expression.pattern}
        message = clean_text(validator.message)
        message = "" if message in map(clean_text, DEFAULT_MESSAGES) else message
        if validator.inverse_match:
            self.explain(message, _("Must not match %(pattern)s") % facts)
            return
        portable = translate_pattern(expression.pattern, expression.flags)
        is_text = self.schema.get("type") == "string" and "pattern" not in self.schema
        # A blank value never reaches the validators, so the pattern must not refuse it.
        if portable is not None and is_text and not self.allows_blank:
            self.schema = self.schema | {"pattern": portable}
            self.explain(message)
        else:
            self.explain(message or _("Must match %(pattern)s") % facts)

    def read_uniqueness(self, validator: UniqueValidator) -> None:
        self.explain(_("Unique"))

    def read_step(self, validator: validators.StepValueValidator) -> None:
        # Floating point arithmetic keeps steps out of ``multipleOf``.
        if not callable(validator.limit_value):
            self.explain(_("In steps of %(step)s") % {"step": validator.limit_value})

    def read_extensions(self, validator: validators.FileExtensionValidator) -> None:
        if validator.allowed_extensions:
            names = join_values(validator.allowed_extensions)
            self.explain(_("File types: %(extensions)s") % {"extensions": names})


def is_extension_validator(validator: Any) -> TypeGuard[validators.FileExtensionValidator]:
    own = isinstance(validator, validators.FileExtensionValidator)
    return own and find_package(type(validator), "__call__") == "django"
