"""The words for accepted values name the kind of value, in all kinds of schema."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from django.urls import path
from djangorestframework_camel_case.parser import CamelCaseJSONParser
from djangorestframework_camel_case.render import CamelCaseJSONRenderer
from rest_framework import generics
from rest_framework import serializers as f

from drf_mcp.arguments.call import Call
from drf_mcp.exposure import registry
from drf_mcp.introspection.described_field import DescribedField
from drf_mcp.introspection.portable import write_portable
from drf_mcp.introspection.text import describe_accepted
from example_project.shop.models import Customer


def unchanged(schema):
    """Return a schema that is not made portable."""
    return schema


def test_the_kind_of_value_is_named(subtests):
    for field, words in [
        (f.CharField(max_length=5), "a string from 1 to 5 characters"),
        (f.DateField(help_text="The last day."), "a date (YYYY-MM-DD)"),
        (f.DateField(input_formats=["%d.%m.%Y", "%Y"]), "a string in the format DD.MM.YYYY, YYYY"),
        (f.DateTimeField(), "a date-time"),
        (f.TimeField(), "a time of day (hh:mm[:ss])"),
        (f.DurationField(), "a duration ([DD] [hh:[mm:]]ss)"),
        (f.EmailField(), "an email address"),
        (f.EmailField(allow_null=True), "an email address"),
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
            "a decimal number (at most 3 digits, 1 decimal place, at least 0.5)",
        ),
        (
            f.DecimalField(
                max_digits=None, decimal_places=None, min_value=1, coerce_to_string=False
            ),
            "a decimal number of at least 1",
        ),
        (f.ListField(child=f.DateField()), "an array, each item a date (YYYY-MM-DD)"),
    ]:
        for narrow in [write_portable, unchanged]:
            with subtests.test(field=field, words=words, narrow=narrow):
                assert describe_accepted(narrow(DescribedField(field).input_schema)) == words


# --- From a field to an error message ---------------------------------------------------------


class Day(f.Serializer):
    first_day = f.DateField()
    label = f.CharField(max_length=20, required=False, help_text="URL. Keep it short.")
    owner = f.PrimaryKeyRelatedField(queryset=Customer.objects.all(), required=False)
    nights = f.ListField(child=f.DateField(), required=False)


class Nested(Day):
    day = Day()
    days = Day(many=True, required=False)


class Days(generics.ListCreateAPIView):
    """A body that is one object."""

    queryset = Customer.objects.all()
    serializer_class = Nested
    permission_classes = []


class Renamed(Days):
    """A body whose keys are renamed by the parser."""

    parser_classes = [CamelCaseJSONParser]
    renderer_classes = [CamelCaseJSONRenderer]


class ByCaller(Days):
    """A body with other fields for staff."""

    def get_serializer_class(self):
        staff = self.request.user.is_staff
        return type("Staff", (Nested,), {"note": f.CharField(required=False)}) if staff else Nested


def accepted_by(expose, view, **settings) -> Callable[[str], str | None]:
    """Return a function that gives the words for accepted values at a pointer."""
    expose(path("days/", view.as_view()), **settings)
    return registry.tool("days_create").pointers(Call({})).accepted


DATE = "a date (YYYY-MM-DD)"
PLACES = ["/first_day", "/day/first_day", "/days/0/first_day", "/days/0/nights/3"]


def test_error_messages_name_the_kind_of_value(expose, db):
    for own in [{}, {"PORTABLE": False}, {"ARGUMENTS": "grouped"}]:
        body = "/body" if "ARGUMENTS" in own else ""
        for view in [Days, ByCaller]:
            accepted = accepted_by(expose, view, **own)
            kinds = [accepted(f"{body}{place}") for place in PLACES]
            assert kinds == [DATE] * len(PLACES), (own, view)
            assert accepted(f"{body}/label").startswith("a string"), (own, view)


def test_a_foreign_key_names_the_tool_that_lists_its_objects(expose, db):
    accepted = accepted_by(expose, Days)
    words = {accepted(place) for place in ("/owner", "/day/owner", "/days/0/owner")}
    assert words == {"an integer that days_list gives"}
