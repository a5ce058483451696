"""Overridden conversions: whether the field still accepts what REST framework's field accepts."""

from __future__ import annotations

import logging

from django.contrib.auth.models import Group
from rest_framework import generics
from rest_framework import serializers as s

from drf_mcp.introspection.source.overrides import converts_like_drf
from tests.introspection.inspected import by_name, described

TEXT = {"type": "string", "minLength": 1}
logger = logging.getLogger(__name__)


class Strict(s.CharField):
    """Refuses one more value after the conversion."""

    def to_internal_value(self, data):
        """Return a text that is not refused."""
        value = super().to_internal_value(data)
        if value == "no":
            self.fail("invalid")
        return value


class Stripped(Strict):
    """Overrides again, and calls super() within an expression."""

    def to_internal_value(self, data):
        return str(super().to_internal_value(data).strip())


class Named(s.Serializer):
    """One required field."""

    name = s.CharField(max_length=9)


class Checked(Named):
    """Validates more after the conversion."""

    def run_validation(self, data=s.empty):
        value = super().run_validation(data=data)
        self.check_name(value)
        return value

    def check_name(self, value):
        pass


class Nesting(Named):
    """Accepts the key of an object if its flag is set."""

    def __init__(self, *args, nested=False, **kwargs):
        self.nested = nested
        super().__init__(*args, **kwargs)

    def to_internal_value(self, data):
        if self.nested:
            return Group.objects.get(pk=data)
        return super().to_internal_value(data)


def test_an_override_that_begins_with_super_accepts_what_drf_accepts(subtests):
    for field in [Strict(), Stripped(), Checked(), Nesting()]:
        with subtests.test(field=field):
            assert converts_like_drf(field)


class Logged(s.CharField):
    def to_internal_value(self, data):
        logger.info("read by %s", self.context.get("request"))
        return super().to_internal_value(data)


class Relaxed(s.CharField):
    def to_internal_value(self, data):
        try:
            return super().to_internal_value(data)
        except s.ValidationError:
            return str(data)


class Early(s.CharField):
    def to_internal_value(self, data):
        if isinstance(data, dict):
            return data["name"]
        return super().to_internal_value(data)


class Rewritten(s.CharField):
    def to_internal_value(self, data):
        return super().to_internal_value(str(data))


class Never(s.CharField):
    def to_internal_value(self, data):
        return str(data)


class Lenient(Named):
    def to_internal_value(self, data):
        self.fields["name"].required = False
        return super().to_internal_value(data)


class Suppressing(Named):
    def run_validation(self, data=s.empty):
        with logger.quiet():
            return super().run_validation(data)


class Above(Early):
    """Calls the super() of a class that does not begin with super()."""

    def to_internal_value(self, data):
        return super().to_internal_value(data)


def test_any_other_override_may_accept_more(subtests):
    for field in [
        Relaxed(),
        Early(),
        Rewritten(),
        Never(),
        Lenient(),
        Suppressing(),
        Logged(),
        Above(),
        Nesting(nested=True),
    ]:
        with subtests.test(field=field):
            assert not converts_like_drf(field)


# Descriptions


class Mixed(s.Serializer):
    """Fields whose overrides begin with super(), and fields whose overrides do not."""

    strict = Strict(max_length=5)
    early = Early(max_length=5, help_text="Free.")
    checked = Checked()
    nested = Lenient(allow_null=True)


class Create(generics.CreateAPIView):
    serializer_class = Mixed


def test_a_field_that_does_not_is_open_and_described_in_words():
    fields = by_name(described(Create, "POST").body.fields)
    words = "Free. Meant to be a string from 1 to 5 characters."
    assert fields["early"].schema == {"description": words}
    words = "Meant to be an object with name. May be null."
    assert fields["nested"].schema == {"description": words}
    assert fields["early"].required


def test_a_serializer_that_may_accept_more_is_described_in_words_and_is_a_finding():
    view = type("View", (Create,), {"serializer_class": Lenient})
    schema = described(view, "POST")
    (name,) = schema.body.fields
    words = "Meant to be a string from 1 to 9 characters. Meant to be required."
    assert (name.schema, name.required) == ({"description": words}, False)
    (finding,) = schema.findings
    assert finding.message == "Lenient reads its input itself."
    assert "@mcp_tool(body=...)" in finding.remedy


class Prepared(s.Serializer):
    """Changes the data before REST framework reads it."""

    name = s.CharField()
    url = s.URLField(required=False)

    def to_internal_value(self, data):
        data = {**data, "name": data.get("name", data.get("url", ""))}
        return super().to_internal_value(data)


def test_a_serializer_that_changes_its_data_first_requires_nothing():
    view = type("View", (generics.CreateAPIView,), {"serializer_class": Prepared})
    schema = described(view, "POST")
    fields = by_name(schema.body.fields)
    assert not any(field.required for field in fields.values())
    assert not any("type" in field.schema for field in fields.values())
    assert fields["name"].schema["description"].endswith("Meant to be required.")
    (finding,) = schema.findings
    assert "Prepared reads its input itself." in finding.message
