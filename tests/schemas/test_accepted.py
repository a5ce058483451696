"""What would be accepted is told by its kind, whatever keyword of a schema has room for that."""

from __future__ import annotations

from decimal import Decimal

import pytest
from rest_framework import serializers as f

from drf_mcp.schemas import in_words
from drf_mcp.schemas.fields import input_schema
from drf_mcp.schemas.portable import portable


@pytest.mark.parametrize(
    ("field", "words"),
    [
        (f.CharField(max_length=5), "a string from 1 to 5 characters"),
        (f.DateField(help_text="The last day."), "a date (YYYY-MM-DD)"),
        (f.DateField(input_formats=["%d.%m.%Y", "%Y"]), "a string in the format DD.MM.YYYY, YYYY"),
        (f.DateTimeField(), "a date-time"),
        (f.TimeField(), "a time of day (hh:mm[:ss])"),
        (f.DurationField(), "a duration ([DD] [hh:[mm:]]ss)"),
        (f.EmailField(), "an email address"),
        (
            f.EmailField(max_length=254, allow_null=True),
            "an email address of at most 254 characters",
        ),
        (f.URLField(), "a URL"),
        (f.UUIDField(), "a UUID"),
        (f.IPAddressField(), "an IPv4 or IPv6 address"),
        (f.IPAddressField(protocol="ipv4"), "an IPv4 address"),
        (f.FileField(), "a file as base64 or data URI"),
        (f.ImageField(), "an image as base64 or data URI"),
        (
            f.DecimalField(max_digits=7, decimal_places=2),
            "a decimal number (at most 7 digits, 2 decimal places)",
        ),
        (
            f.DecimalField(
                max_digits=3, decimal_places=1, min_value=Decimal("0.5"), help_text="In mg."
            ),
            "a decimal number (at most 3 digits, 1 decimal places, at least 0.5)",
        ),
        (
            f.DecimalField(
                max_digits=None, decimal_places=None, min_value=1, coerce_to_string=False
            ),
            "a decimal number of at least 1",
        ),
        (f.ListField(child=f.DateField()), "an array, each item a date (YYYY-MM-DD)"),
        (f.SlugField(), "a string of at least 1 character matching ^[-a-zA-Z0-9_]+$"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("narrow", [portable, dict])
def test_a_kind_is_named(field, words, narrow):
    assert in_words(narrow(input_schema(field))) == words


def test_what_identifies_an_object_names_the_tool_that_lists_it():
    schema = {"type": "integer", "description": "Whose order. Find it with customers_list."}
    assert in_words(schema) == "an integer that customers_list gives"
    many = {"type": "array", "items": schema}
    assert in_words(many) == "an array, each item an integer that customers_list gives"
