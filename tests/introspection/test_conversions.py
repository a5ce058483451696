"""Own ways to read input: which of them leave what REST framework takes as it was."""

from __future__ import annotations

import logging

import pytest
from django.contrib.auth.models import Group
from rest_framework import generics
from rest_framework import serializers as s

from drf_mcp.introspection.fields import input_schema
from drf_mcp.introspection.request_body.handling import handling_of
from drf_mcp.introspection.source.conversions import reads_as_stock
from tests.introspection.inspected import by_name, described, schemas

TEXT = {"type": "string", "minLength": 1}
logger = logging.getLogger(__name__)


class Strict(s.CharField):
    """Refuses more afterwards."""

    def to_internal_value(self, data):
        value = super().to_internal_value(data)
        if value == "no":
            self.fail("invalid")
        return value


class Logged(Strict):
    """A second override, which looks at what it was given."""

    def to_internal_value(self, data):
        if isinstance(data, list) or data == "x":
            raise s.ValidationError({"data": data})
        logger.info("read by %s", self.context.get("request"))
        self.seen = True
        return super().to_internal_value(data).strip()


class Counted(s.ListField):
    """Makes something else of each item."""

    def to_internal_value(self, data):
        return {item: str(item) for item in super().to_internal_value(data)}


class Named(s.Serializer):
    """One required text."""

    name = s.CharField(max_length=9)


class Checked(Named):
    """Refuses more afterwards."""

    def run_validation(self, data=s.empty):
        value = super().run_validation(data=data)
        self.check_name(value)
        return value

    def check_name(self, value):
        pass


class Nesting(Named):
    """Looks an object up, but only where its flag says so."""

    def __init__(self, *args, nested=False, **kwargs):
        self.nested = nested
        super().__init__(*args, **kwargs)

    def to_internal_value(self, data):
        if self.nested:
            return Group.objects.get(pk=data)
        return super().to_internal_value(data)


class Rephrasing(Named):
    """Refuses what is refused, in other words."""

    def run_validation(self, data=s.empty):
        try:
            return super().run_validation(data)
        except s.ValidationError as exc:
            logger.info("refused")
            raise s.ValidationError(s.as_serializer_error(exc)) from exc
        finally:
            self.read = True


@pytest.mark.parametrize(
    "field", [Strict(), Logged(), Counted(), Checked(), Nesting(), Rephrasing()], ids=repr
)
def test_override_that_hands_over_what_it_was_given_reads_as_stock(field):
    assert reads_as_stock(field)


def fill(given):
    given["name"] = "a"


def relax(field):
    field.required = False


class Defaulting(s.CharField):
    def to_internal_value(self, data):
        data = data or "none"
        return super().to_internal_value(data)


class Relaxed(s.CharField):
    def to_internal_value(self, data):
        try:
            return super().to_internal_value(data)
        except s.ValidationError:
            return str(data)


class RelaxedAtTimes(s.CharField):
    def to_internal_value(self, data):
        try:
            return super().to_internal_value(data)
        except s.ValidationError:
            if data is None:
                return ""
            raise


class Keeping(s.ChoiceField):
    def to_internal_value(self, data):
        if data == "keep":
            raise s.SkipField()
        return super().to_internal_value(data)


class KeepingWhatIsRefused(s.CharField):
    def to_internal_value(self, data):
        try:
            return super().to_internal_value(data)
        except s.ValidationError:
            raise s.SkipField from None


class RelaxedForOneError(s.CharField):
    def to_internal_value(self, data):
        try:
            return super().to_internal_value(data)
        except TypeError:
            raise s.ValidationError("No text.") from None
        except s.ValidationError:
            logger.info("refused")


class RelaxedInTheEnd(s.CharField):
    def to_internal_value(self, data):
        try:
            return super().to_internal_value(data)
        finally:
            return str(data)  # noqa: B012, SIM107


class Early(s.CharField):
    def to_internal_value(self, data):
        if isinstance(data, dict):
            return data["name"]
        return super().to_internal_value(data)


class Either(s.CharField):
    def to_internal_value(self, data):
        return data if data else super().to_internal_value(data)


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


class LenientByMethod(Named):
    def to_internal_value(self, data):
        self.relax()
        return super().to_internal_value(data)

    def relax(self):
        self.fields["name"].required = False


class LenientByAlias(Named):
    def to_internal_value(self, data):
        fields = self.fields
        fields.pop("name")
        return super().to_internal_value(data)


class Filling(Named):
    def to_internal_value(self, data):
        data["name"] = "a"
        return super().to_internal_value(data)


class FillingByMethod(Named):
    def to_internal_value(self, data):
        data.setdefault("name", "a")
        return super().to_internal_value(data)


class FillingElsewhere(Named):
    def to_internal_value(self, data):
        logger.info(data)
        return super().to_internal_value(data)


class FillingByNote(Named):
    def to_internal_value(self, data):
        self.sent = data
        fill(self.sent)
        return super().to_internal_value(data)


class FillingItems(s.ListField):
    def to_internal_value(self, data):
        for item in data:
            fill(item)
        return super().to_internal_value(data)


class LenientToAll(Named):
    def to_internal_value(self, data):
        for field in self.fields.values():
            relax(field)
        return super().to_internal_value(data)


class LenientByCopy(Named):
    def to_internal_value(self, data):
        relax(dict(self.fields)["name"])
        return super().to_internal_value(data)


class Suppressing(Named):
    def run_validation(self, data=s.empty):
        with logger.quiet():
            return super().run_validation(data)


class Above(Nesting):
    """Hands over, to a class that may not."""

    def to_internal_value(self, data):
        return super().to_internal_value(data)


@pytest.mark.parametrize(
    "field",
    [
        Defaulting(),
        Relaxed(),
        RelaxedAtTimes(),
        RelaxedForOneError(),
        Keeping(["a"]),
        KeepingWhatIsRefused(),
        RelaxedInTheEnd(),
        Early(),
        Either(),
        Rewritten(),
        Never(),
        Lenient(),
        LenientByMethod(),
        LenientByAlias(),
        Filling(),
        FillingByMethod(),
        FillingElsewhere(),
        FillingByNote(),
        FillingItems(),
        LenientToAll(),
        LenientByCopy(),
        Suppressing(),
        Nesting(nested=True),
        Above(nested=True),
    ],
    ids=repr,
)
def test_override_that_may_take_more_does_not(field):
    assert not reads_as_stock(field)


def test_override_without_source_does_not():
    namespace = {"s": s}
    exec(
        "class Own(s.CharField):\n"
        "    def to_internal_value(self, data): return super().to_internal_value(data)",
        namespace,
    )
    assert not reads_as_stock(namespace["Own"]())


# What is told


class Mixed(s.Serializer):
    """Members that hand over, and members that do not."""

    strict = Strict(max_length=5)
    early = Early(max_length=5, help_text="Free.")
    checked = Checked()
    nested = Nesting(nested=True, allow_null=True)


class Create(generics.CreateAPIView):
    serializer_class = Mixed


def test_member_that_hands_over_is_described_by_its_base():
    told = schemas(described(Create, "POST").body.fields)
    assert told["strict"] == {**TEXT, "maxLength": 5}
    assert told["checked"]["required"] == ["name"]


def test_member_that_does_not_is_open_and_told_in_words():
    fields = by_name(described(Create, "POST").body.fields)
    words = "Free. Meant to be a string from 1 to 5 characters."
    assert fields["early"].schema == {"description": words}
    words = "Meant to be an object with name. May be null."
    assert fields["nested"].schema == {"description": words}
    assert fields["early"].required


@pytest.mark.parametrize(
    ("base", "options", "words"),
    [
        (
            s.DecimalField,
            {"max_digits": 5, "decimal_places": 2},
            "Meant to be a decimal number (at most 5 digits, 2 decimal places).",
        ),
        (
            s.ChoiceField,
            {"choices": [("DE", "Germany"), ("FR", "France")]},
            "Meant to be one of DE, FR. DE = Germany, FR = France.",
        ),
        (s.ImageField, {}, "Meant to be an image as base64 or data URI."),
        (s.EmailField, {}, "Meant to be an email address."),
        (s.ListField, {"child": s.IntegerField()}, "Meant to be an array, each item an integer."),
        (s.JSONField, {}, None),
    ],
)
def test_what_a_field_is_meant_to_be_is_what_its_base_takes(base, options, words):
    own = type("Own", (base,), {"to_internal_value": lambda self, data: data})
    assert input_schema(own(**options)) == ({"description": words} if words else {})


def test_field_whose_base_needs_a_caller_is_open():
    class Own(s.PrimaryKeyRelatedField):
        def to_internal_value(self, data):
            return data

        def get_queryset(self):
            return self.context["request"].tenant.groups

    class Body(s.Serializer):
        group = Own(help_text="Whose.")

    assert input_schema(Body().fields["group"]) == {"description": "Whose."}


def test_serializer_that_hands_over_is_described_whole():
    view = type("View", (Create,), {"serializer_class": Checked})
    (name,) = described(view, "POST").body.fields
    assert (name.schema, name.required) == ({**TEXT, "maxLength": 9}, True)


def test_serializer_that_may_take_more_says_what_it_means_and_is_a_finding():
    view = type("View", (Create,), {"serializer_class": Lenient})
    schema = described(view, "POST")
    (name,) = schema.body.fields
    words = "Meant to be a string from 1 to 9 characters. Meant to be required."
    assert (name.schema, name.required) == ({"description": words}, False)
    assert [finding.message for finding in schema.findings] == ["Lenient reads its input itself."]


def test_list_of_what_is_told_in_words_tells_the_words_of_its_items():
    class Order(Lenient):
        lines = Lenient(many=True, help_text="What is bought.")

    view = type("View", (Create,), {"serializer_class": Order})
    lines = described(view, "POST").body.fields[-1]
    words = "Meant to be an array, each item an object with name. Meant to be required."
    assert lines.schema == {"description": f"What is bought. {words}"}


def test_list_of_a_serializer_that_hands_over_is_described_whole():
    items = input_schema(Checked(many=True))["items"]
    assert items["required"] == ["name"]


def test_file_that_is_handed_over_is_an_upload():
    class Checked(s.FileField):
        def to_internal_value(self, data):
            return super().to_internal_value(data)

    class Text(s.FileField):
        def to_internal_value(self, data):
            return data

    assert handling_of(Checked(), takes_json=True).uploads
    assert not handling_of(Text(), takes_json=True).uploads
