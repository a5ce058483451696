"""Booleans, strings, numbers, dates and files of serializers."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any, ClassVar

from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, ngettext_lazy
from rest_framework import ISO_8601, fields
from rest_framework.settings import api_settings
from rest_framework.utils import humanize_datetime

from drf_mcp.introspection.field_schema import (
    DECIMAL,
    FILE,
    IMAGE,
    IP_ADDRESS,
    WHOLE_NUMBER,
    FieldSchema,
    Limit,
    ValueKind,
    explain,
    join_sentences,
    make_own_format,
    make_text,
)
from drf_mcp.introspection.fields.base import FieldDescriber
from drf_mcp.introspection.types import Schema
from drf_mcp.settings import mcp_settings

STRING: Schema = {"type": "string"}


class NumberDescriber(FieldDescriber):
    json_types: ClassVar[dict[type, str]] = {
        fields.BooleanField: "boolean",
        fields.IntegerField: "integer",
        fields.FloatField: "number",
    }
    field_classes = tuple(json_types)

    def get_input_schema(self) -> Schema:
        bases = type(self.field).__mro__
        return {"type": next(self.json_types[base] for base in bases if base in self.json_types)}

    def get_output_schema(self) -> Schema:
        return self.get_input_schema()


class BigIntegerDescriber(FieldDescriber):
    # Since REST framework 3.17.
    field_classes = (fields.BigIntegerField,) if hasattr(fields, "BigIntegerField") else ()

    def get_input_schema(self) -> Schema:
        # As a string the number keeps its digits in clients of JavaScript.
        by_setting = getattr(api_settings, "COERCE_BIGINT_TO_STRING", False)
        if getattr(self.field, "coerce_to_string", by_setting):
            return FieldSchema(STRING).with_kind(WHOLE_NUMBER)
        return {"type": "integer"}

    def get_output_schema(self) -> Schema:
        return self.get_input_schema()


MOST_DIGITS = ngettext_lazy("at most %(limit)s digit", "at most %(limit)s digits", "limit")
PLACES = ngettext_lazy("%(limit)s decimal place", "%(limit)s decimal places", "limit")


class DecimalDescriber(FieldDescriber):
    field_classes = (fields.DecimalField,)

    def get_input_schema(self) -> Schema:
        limits = (
            Limit(MOST_DIGITS, self.field.max_digits),
            Limit(PLACES, self.field.decimal_places),
        )
        known = tuple(each for each in limits if each.limit is not None)
        # The digits are part of the sentence, since the pattern has them too.
        sentence = join_sentences(_(DECIMAL.sentence), self.describe_digits())
        kind = replace(DECIMAL, sentence=sentence, pattern=self.get_pattern())
        return FieldSchema(self.get_output_schema()).with_kind(kind).with_meaning(limits=known)

    def describe_digits(self) -> str:
        digits, places = self.field.max_digits, self.field.decimal_places
        known = []
        if digits is not None:
            most = ngettext("At most %(limit)s digit", "At most %(limit)s digits", digits)
            known.append(most % {"limit": digits})
        if places is not None:
            known.append(PLACES % {"limit": places})
        return ", ".join(known)

    def get_pattern(self) -> str:
        most, places, least = self.field.max_digits, self.field.decimal_places, self.field.min_value
        # Separators of a language may stand in the digits of a localized field.
        if places is None or getattr(self.field, "localize", False):
            return ""
        sign = "" if isinstance(least, (int, float, Decimal)) and least >= 0 else "-?"
        part = rf"\.\d{{1,{places}}}" if places > 2 else r"\.\d" + r"\d?" * (places - 1)
        if most == places:
            # Of no digits before the point, not even a zero may stand alone.
            return f"^{sign}0{part}$"
        whole = r"\d+" if most is None else rf"\d{{1,{most - places}}}"
        return f"^{sign}{whole}({part})?$" if places else f"^{sign}{whole}$"

    def get_output_schema(self) -> Schema:
        by_setting = api_settings.COERCE_DECIMAL_TO_STRING
        as_string = getattr(self.field, "coerce_to_string", by_setting)
        return {"type": "string" if as_string else "number"}


class StringDescriber(FieldDescriber):
    format_name: ClassVar[str] = ""

    def get_input_schema(self) -> Schema:
        return make_text(self.format_name) if self.format_name else FieldSchema(STRING)

    def get_output_schema(self) -> Schema:
        # REST framework's times, durations, addresses and naive dates often break the format.
        return dict(STRING)


class TextDescriber(StringDescriber):
    formats: ClassVar[dict[type, str]] = {fields.EmailField: "email", fields.URLField: "uri"}
    field_classes: ClassVar[tuple[type, ...]] = (fields.CharField, *formats)

    def get_input_schema(self) -> Schema:
        # A blank text counts as missing.
        blank = {} if self.field.allow_blank else {"minLength": 1}
        schema: Schema = self.get_text() | blank
        return schema

    def get_text(self) -> FieldSchema:
        for base in type(self.field).__mro__:
            if base in self.formats:
                return make_text(self.formats[base], blank=self.field.allow_blank)
        return FieldSchema(STRING)


class IPAddressDescriber(TextDescriber):
    field_classes = (fields.IPAddressField,)

    def get_text(self) -> FieldSchema:
        blank = self.field.allow_blank
        if self.field.protocol in ("ipv4", "ipv6"):
            return make_text(self.field.protocol, blank=blank)
        kind = replace(IP_ADDRESS, pattern="") if blank else IP_ADDRESS
        return FieldSchema(STRING).with_kind(kind)


class UUIDDescriber(StringDescriber):
    field_classes = (fields.UUIDField,)
    format_name = "uuid"

    def get_input_schema(self) -> Schema:
        schema = make_text(self.format_name)
        # An id is sent as it was given.
        own_form = self.field.uuid_format not in ("hex", "hex_verbose")
        return schema.without_pattern() if own_form else schema

    def get_output_schema(self) -> Schema:
        return {"type": "integer"} if self.field.uuid_format == "int" else dict(STRING)


class DateTimeDescriber(StringDescriber):
    field_classes: ClassVar[tuple[type, ...]] = (fields.DateTimeField,)
    format_name = "date-time"
    formats_setting: ClassVar[str] = "DATETIME_INPUT_FORMATS"
    humanize: ClassVar[Any] = staticmethod(humanize_datetime.datetime_formats)

    def get_input_schema(self) -> Schema:
        by_setting = getattr(api_settings, self.formats_setting)
        formats = getattr(self.field, "input_formats", by_setting)
        standard = [input_format.lower() == ISO_8601 for input_format in formats]
        if any(standard):
            schema = FieldSchema.of(super().get_input_schema())
            return schema if all(standard) else schema.without_pattern()
        return FieldSchema(STRING).with_kind(make_own_format(self.humanize(formats)))


class DateDescriber(DateTimeDescriber):
    field_classes = (fields.DateField,)
    format_name = "date"
    formats_setting = "DATE_INPUT_FORMATS"
    humanize = staticmethod(humanize_datetime.date_formats)


class TimeDescriber(DateTimeDescriber):
    field_classes = (fields.TimeField,)
    format_name = "time"
    formats_setting = "TIME_INPUT_FORMATS"
    humanize = staticmethod(humanize_datetime.time_formats)


class DurationDescriber(StringDescriber):
    field_classes = (fields.DurationField,)
    format_name = "duration"


class FileDescriber(StringDescriber):
    field_classes = (fields.FileField,)
    kind: ClassVar[ValueKind] = FILE

    def get_input_schema(self) -> Schema:
        limit = filesizeformat(mcp_settings.MAX_UPLOAD_BYTES).replace("\xa0", " ")
        facts = {"kind": _(self.kind.sentence), "size": limit}
        words = _("%(kind)s (data:TYPE;name=NAME;base64,...), at most %(size)s") % facts
        return explain(FieldSchema(STRING).with_meaning(kind=self.kind), words)


class ImageDescriber(FileDescriber):
    field_classes = (fields.ImageField,)
    kind = IMAGE
