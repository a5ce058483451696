"""Booleans, strings, numbers, dates and files of serializers."""

from __future__ import annotations

from typing import Any

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
    own_format,
)
from drf_mcp.introspection.fields.table import accepts, represents
from drf_mcp.introspection.types import Schema
from drf_mcp.settings import mcp_settings

STRING: Schema = {"type": "string"}
# Since REST framework 3.17.
BIG_INTEGERS = (fields.BigIntegerField,) if hasattr(fields, "BigIntegerField") else ()


@accepts(fields.BooleanField)
@represents(fields.BooleanField)
def boolean(field: fields.BooleanField) -> Schema:
    """Describe true or false."""
    return {"type": "boolean"}


def of_kind(schema: Schema, kind: Kind) -> FieldSchema:
    """Return the schema of values of a kind, which the description says as well."""
    return FieldSchema.of(schema).of_kind(kind)


# Strings


@represents(
    fields.CharField,
    fields.DateTimeField,
    fields.DateField,
    fields.TimeField,
    fields.DurationField,
    fields.FileField,
)
def string(field: Any) -> Schema:
    """Describe output that is a string.

    No format is claimed: what REST framework writes for times, durations, addresses
    and naive dates is often not what JSON Schema means by it.
    """
    return dict(STRING)


@accepts(fields.CharField)
def characters(field: fields.CharField) -> Schema:
    """Describe text; blank text counts as missing unless the field allows it."""
    return dict(STRING) if field.allow_blank else {**STRING, "minLength": 1}


@accepts(fields.EmailField)
def email(field: fields.EmailField) -> Schema:
    """Describe an e-mail address."""
    return {**characters(field), "format": "email"}


@accepts(fields.URLField)
def url(field: fields.URLField) -> Schema:
    """Describe a URL."""
    return {**characters(field), "format": "uri"}


@accepts(fields.IPAddressField)
def ip_address(field: fields.IPAddressField) -> Schema:
    """Describe an IP address of one protocol or of both."""
    schema = characters(field)
    if field.protocol in ("ipv4", "ipv6"):
        return {**schema, "format": field.protocol}
    return of_kind(schema, IP_ADDRESS)


@accepts(fields.UUIDField)
def uuid(field: fields.UUIDField) -> Schema:
    """Describe a UUID."""
    return {**STRING, "format": "uuid"}


@represents(fields.UUIDField)
def uuid_output(field: fields.UUIDField) -> Schema:
    """Describe a UUID in the field's own notation."""
    return {"type": "integer"} if field.uuid_format == "int" else dict(STRING)


# Numbers


@accepts(fields.IntegerField)
@represents(fields.IntegerField)
def integer(field: fields.IntegerField) -> Schema:
    """Describe a whole number."""
    return {"type": "integer"}


@accepts(*BIG_INTEGERS)
@represents(*BIG_INTEGERS)
def big_integer(field: Any) -> Schema:
    """Describe a whole number that may travel as a string to keep its digits."""
    by_setting = getattr(api_settings, "COERCE_BIGINT_TO_STRING", False)
    if getattr(field, "coerce_to_string", by_setting):
        return of_kind(STRING, WHOLE_NUMBER)
    return {"type": "integer"}


@accepts(fields.FloatField)
@represents(fields.FloatField)
def number(field: fields.FloatField) -> Schema:
    """Describe a number."""
    return {"type": "number"}


@accepts(fields.DecimalField)
def decimal(field: fields.DecimalField) -> Schema:
    """Describe a decimal number in the notation the field itself uses for output."""
    return of_kind(decimal_output(field), DECIMAL).limited(*digits(field))


@represents(fields.DecimalField)
def decimal_output(field: fields.DecimalField) -> Schema:
    """Describe a decimal number: a string by default, which keeps its digits."""
    if getattr(field, "coerce_to_string", api_settings.COERCE_DECIMAL_TO_STRING):
        return dict(STRING)
    return {"type": "number"}


def digits(field: fields.DecimalField) -> tuple[str, ...]:
    """Return the limits on a decimal's digits in words."""
    limits = (
        f"at most {field.max_digits} digits" if field.max_digits is not None else "",
        f"{field.decimal_places} decimal places" if field.decimal_places is not None else "",
    )
    return tuple(limit for limit in limits if limit)


# Dates and times


@accepts(fields.DateTimeField)
def date_time(field: fields.DateTimeField) -> Schema:
    """Describe a date with a time."""
    formats = getattr(field, "input_formats", api_settings.DATETIME_INPUT_FORMATS)
    return moment("date-time", formats, humanize_datetime.datetime_formats(formats))


@accepts(fields.DateField)
def date(field: fields.DateField) -> Schema:
    """Describe a date."""
    formats = getattr(field, "input_formats", api_settings.DATE_INPUT_FORMATS)
    return moment("date", formats, humanize_datetime.date_formats(formats))


@accepts(fields.TimeField)
def time(field: fields.TimeField) -> Schema:
    """Describe a time of day."""
    formats = getattr(field, "input_formats", api_settings.TIME_INPUT_FORMATS)
    return moment("time", formats, humanize_datetime.time_formats(formats))


def moment(name: str, formats: Any, humanized: str) -> Schema:
    """Describe a string by a format if ISO 8601 is taken, else by the formats that are."""
    if any(input_format.lower() == ISO_8601 for input_format in formats):
        return {**STRING, "format": name}
    return of_kind(STRING, own_format(humanized))


@accepts(fields.DurationField)
def duration(field: fields.DurationField) -> Schema:
    """Describe a length of time."""
    return {**STRING, "format": "duration"}


# Files


@accepts(fields.FileField)
def file(field: fields.FileField) -> Schema:
    """Describe a file, which JSON can only carry encoded."""
    kind = IMAGE if isinstance(field, fields.ImageField) else FILE
    limit = filesizeformat(mcp_settings.MAX_UPLOAD_BYTES).replace("\xa0", " ")
    words = f"{kind.sentence} (data:TYPE;name=NAME;base64,...), at most {limit}"
    return explain(FieldSchema(STRING).meaning_also(kind=kind), words)
