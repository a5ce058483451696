"""Booleans, strings, numbers, dates and files of serializers."""

from __future__ import annotations

from typing import Any, ClassVar

from django.template.defaultfilters import filesizeformat
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
    Kind,
    explain,
    make_own_format,
)
from drf_mcp.introspection.fields.base import FieldDescriber
from drf_mcp.introspection.types import Schema
from drf_mcp.settings import mcp_settings

STRING: Schema = {"type": "string"}


class ScalarDescriber(FieldDescriber):
    json_type: ClassVar[str]

    def get_input_schema(self) -> Schema:
        return {"type": self.json_type}

    def get_output_schema(self) -> Schema:
        return {"type": self.json_type}


class BooleanDescriber(ScalarDescriber):
    field_classes = (fields.BooleanField,)
    json_type = "boolean"


class IntegerDescriber(ScalarDescriber):
    field_classes = (fields.IntegerField,)
    json_type = "integer"


class FloatDescriber(ScalarDescriber):
    field_classes = (fields.FloatField,)
    json_type = "number"


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


class DecimalDescriber(FieldDescriber):
    field_classes = (fields.DecimalField,)

    def get_input_schema(self) -> Schema:
        field = self.field
        limits = (
            f"at most {field.max_digits} digits" if field.max_digits is not None else "",
            f"{field.decimal_places} decimal places" if field.decimal_places is not None else "",
        )
        schema = FieldSchema(self.get_output_schema()).with_kind(DECIMAL)
        return schema.with_limits(*filter(None, limits))

    def get_output_schema(self) -> Schema:
        by_setting = api_settings.COERCE_DECIMAL_TO_STRING
        as_string = getattr(self.field, "coerce_to_string", by_setting)
        return {"type": "string" if as_string else "number"}


class StringDescriber(FieldDescriber):
    format_name: ClassVar[str] = ""

    def get_input_schema(self) -> Schema:
        return {**STRING, "format": self.format_name} if self.format_name else dict(STRING)

    def get_output_schema(self) -> Schema:
        # REST framework's times, durations, addresses and naive dates often break the format.
        return dict(STRING)


class TextDescriber(StringDescriber):
    field_classes: ClassVar[tuple[type, ...]] = (fields.CharField,)

    def get_input_schema(self) -> Schema:
        # A blank text counts as missing.
        blank = {} if self.field.allow_blank else {"minLength": 1}
        return {**super().get_input_schema(), **blank}


class EmailDescriber(TextDescriber):
    field_classes = (fields.EmailField,)
    format_name = "email"


class URLDescriber(TextDescriber):
    field_classes = (fields.URLField,)
    format_name = "uri"


class IPAddressDescriber(TextDescriber):
    field_classes = (fields.IPAddressField,)

    def get_input_schema(self) -> Schema:
        schema = super().get_input_schema()
        if self.field.protocol in ("ipv4", "ipv6"):
            return {**schema, "format": self.field.protocol}
        return FieldSchema(schema).with_kind(IP_ADDRESS)


class UUIDDescriber(StringDescriber):
    field_classes = (fields.UUIDField,)
    format_name = "uuid"

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
        if any(input_format.lower() == ISO_8601 for input_format in formats):
            return super().get_input_schema()
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
    kind: ClassVar[Kind] = FILE

    def get_input_schema(self) -> Schema:
        limit = filesizeformat(mcp_settings.MAX_UPLOAD_BYTES).replace("\xa0", " ")
        words = f"{self.kind.sentence} (data:TYPE;name=NAME;base64,...), at most {limit}"
        return explain(FieldSchema(STRING).with_meaning(kind=self.kind), words)


class ImageDescriber(FileDescriber):
    field_classes = (fields.ImageField,)
    kind = IMAGE
