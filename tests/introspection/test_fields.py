"""Serializer fields: the schema of each, and whether the field accepts what the schema accepts."""

# The tables have one case a line.
# ruff: noqa: E501

from __future__ import annotations

import datetime
import inspect
import json
import uuid
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Any

from django.core import validators
from django.core.files.base import ContentFile
from django.db import models
from django.utils.translation import gettext_lazy
from jsonschema import Draft202012Validator
from rest_framework import fields, relations, serializers
from rest_framework.renderers import JSONRenderer

from drf_mcp.introspection.described_field import DescribedField
from drf_mcp.introspection.fields import FieldDescriber
from drf_mcp.introspection.portable import write_portable
from drf_mcp.introspection.text import describe_accepted
from tests.introspection.inspected import bare, form
from tests.introspection.portability import assert_portable

ABSENT = object()


class Size(models.TextChoices):
    """Choices whose labels differ from their values."""

    SMALL = "s", "Small"
    LARGE = "l", "Large"


class Colour(Enum):
    """An enum whose members are not strings."""

    RED = "red"


@dataclass
class Case:
    """One field, its schemas, and values for both.

    Attributes:
        make: the field.
        accepts: its portable input schema, without descriptions.
        represents: its output schema, without descriptions.
        taken: JSON values that the field and the schema accept.
        refused: JSON values that the field and the schema refuse.
        given: Python values whose representation is valid by the output schema.
    """

    make: Any
    accepts: Any = ABSENT
    represents: Any = ABSENT
    taken: list[Any] = field(default_factory=list)
    refused: list[Any] = field(default_factory=list)
    given: list[Any] = field(default_factory=list)


TEXT = {"type": "string", "minLength": 1}
ANY_TEXT = {"type": "string"}
NULL_TEXT = {"type": ["string", "null"]}
f = serializers


CASES = {
    "boolean": Case(f.BooleanField(), {"type": "boolean"}, {"type": ["boolean", "null"]}, [True, False], ["maybe"], [True, "no"]),
    "nullable boolean": Case(f.BooleanField(allow_null=True), {"type": "boolean"}, {"type": ["boolean", "null"]}, [False], [2], [None]),
    "text": Case(f.CharField(max_length=3), {**TEXT, "maxLength": 3}, NULL_TEXT, ["abc"], ["", "abcd"], ["x", 5]),
    "text that may be blank": Case(f.CharField(allow_blank=True), ANY_TEXT, NULL_TEXT, ["", "a"], [[]], [""]),
    "text of a least length": Case(f.CharField(min_length=2), {"type": "string", "minLength": 2}, NULL_TEXT, ["ab"], ["a"]),
    "text of a least length or blank": Case(f.CharField(min_length=2, allow_blank=True), ANY_TEXT, NULL_TEXT, ["", "ab"]),
    "email": Case(f.EmailField(), form("email"), NULL_TEXT, ["a@example.com"], [""], ["root@localhost"]),
    "pattern": Case(f.RegexField(r"^[a-z]+$"), {"type": "string", "pattern": "^[a-z]+$"}, NULL_TEXT, ["abc"], ["ABC"]),
    "pattern of Python's own": Case(f.RegexField(r"^\w+\Z"), TEXT, NULL_TEXT, ["é"], [""]),
    "pattern or blank": Case(f.RegexField(r"^[a-z]+$", allow_blank=True), ANY_TEXT, NULL_TEXT, ["", "a"]),
    "slug": Case(f.SlugField(), {"type": "string", "pattern": "^[-a-zA-Z0-9_]+$"}, NULL_TEXT, ["a-b"], ["a b"]),
    "unicode slug": Case(f.SlugField(allow_unicode=True), TEXT, NULL_TEXT, ["größe"], [""]),
    "url": Case(f.URLField(), form("uri"), NULL_TEXT, ["https://example.com"], [7], ["/relative"]),
    "uuid": Case(f.UUIDField(), form("uuid"), NULL_TEXT, [str(uuid.uuid4())], [["x"]], [uuid.uuid4(), "no uuid"]),
    "uuid as a number": Case(f.UUIDField(format="int"), ANY_TEXT, {"type": ["integer", "null"]}, [], [], [uuid.uuid4()]),
    "ip address": Case(f.IPAddressField(), form("ip"), NULL_TEXT, ["::1", "10.0.0.1"], [7]),
    "ipv4 address": Case(f.IPAddressField(protocol="ipv4"), form("ipv4"), NULL_TEXT, ["10.0.0.1"], [7]),
    "integer": Case(f.IntegerField(min_value=1, max_value=5), {"type": "integer", "minimum": 1, "maximum": 5}, {"type": ["integer", "null"]}, [1, 5], [0, 6], [3, "4"]),
    "integer of the tightest bound": Case(f.IntegerField(min_value=1, validators=[validators.MinValueValidator(Decimal("2.5"))]), {"type": "integer", "minimum": 3}, {"type": ["integer", "null"]}, [3], [2]),
    "integer of a column's range": Case(f.IntegerField(max_value=2**63 - 1), {"type": "integer"}, {"type": ["integer", "null"]}, [7]),
    "float": Case(f.FloatField(min_value=0.5), {"type": "number", "minimum": 0.5}, {"type": ["number", "null"]}, [0.5, 1], [0.4], [1, 2.5]),
    "decimal": Case(f.DecimalField(max_digits=5, decimal_places=2), {"type": "string", "pattern": r"^-?\d{1,3}(\.\d\d?)?$"}, NULL_TEXT, ["1.25"], [["x"]], [Decimal("1.25"), "2"]),
    "decimal as a number": Case(f.DecimalField(max_digits=5, decimal_places=2, coerce_to_string=False, max_value=9), {"type": "number", "maximum": 9}, {"type": ["number", "null"]}, [1.25, 9], [10], [Decimal("1.25")]),
    "decimal without limits": Case(f.DecimalField(max_digits=None, decimal_places=None), ANY_TEXT, NULL_TEXT, ["1e5"], [{}]),
    "date and time": Case(f.DateTimeField(), {"type": "string", "format": "date-time"}, NULL_TEXT, ["2026-01-02T03:04:05Z"], [5], [datetime.datetime(2026, 1, 2)]),
    "date and time of another format": Case(f.DateTimeField(input_formats=["%d.%m.%Y %H:%M"]), ANY_TEXT, NULL_TEXT, ["02.01.2026 03:04"], [5]),
    "date and time as it is": Case(f.DateTimeField(format=None), {"type": "string", "format": "date-time"}, NULL_TEXT, [], [], [datetime.datetime(2026, 1, 2)]),
    "date": Case(f.DateField(), form("date"), NULL_TEXT, ["2026-01-02"], [5], [datetime.date(2026, 1, 2), "2026-01-02"]),
    "time": Case(f.TimeField(), form("time"), NULL_TEXT, ["03:04"], [5], [datetime.time(3, 4)]),
    "duration": Case(f.DurationField(max_value=datetime.timedelta(days=1)), form("duration"), NULL_TEXT, ["01:00:00"], [{}], [datetime.timedelta(hours=1)]),
    "choice": Case(f.ChoiceField(Size.choices), {"type": "string", "enum": ["s", "l"]}, {}, ["s"], ["m"], ["s", "gone", ""]),
    "choice of members": Case(f.ChoiceField(list(Colour)), {"type": "string", "enum": ["red"]}, {}, ["red"], ["blue"]),
    "choice of integers": Case(f.ChoiceField([(1, "Low"), (2, "High")]), {"type": "integer", "enum": [1, 2]}, {}, [1], [3], [1, 9]),
    "choice of booleans": Case(f.ChoiceField([(True, "Yes"), (False, "No")]), {"type": "boolean", "enum": [True, False]}, {}, [True]),
    "choice of several types": Case(f.ChoiceField([1, "a", None]), {"type": "string", "enum": ["1", "a"]}, {}, ["1", "a"], ["b"]),
    "choice of floats": Case(f.ChoiceField([0.5, 1.5]), {"type": "number", "enum": [0.5, 1.5]}, {}, [0.5], [2.5]),
    "choice of whole floats": Case(f.ChoiceField([1.0, 2.0]), {"type": "string", "enum": ["1.0", "2.0"]}, {}, ["1.0"], ["3.0"]),
    "grouped choice": Case(f.ChoiceField([("Group", [("a", "A"), ("b", "B")])]), {"type": "string", "enum": ["a", "b"]}, {}, ["b"], ["Group"]),
    "choice or blank": Case(f.ChoiceField(["a"], allow_blank=True), {"type": "string", "enum": ["a"]}, {}, ["a"], ["b"]),
    "choice of nothing": Case(f.ChoiceField([]), ANY_TEXT, {}, [], []),
    "several choices": Case(f.MultipleChoiceField(choices=["a", "b"], allow_empty=False), {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1}, {"type": ["array", "null"], "items": {}}, [["a"]], [[], ["c"]], [["a", "gone"]]),
    "list": Case(f.ListField(child=f.IntegerField(min_value=0), max_length=2), {"type": "array", "items": {"type": "integer", "minimum": 0}, "maxItems": 2}, {"type": ["array", "null"], "items": {"type": ["integer", "null"]}}, [[], [1]], [[-1], [1, 2, 3]], [[1, None]]),
    "list of anything": Case(f.ListField(allow_empty=False), {"type": "array", "items": {}, "minItems": 1}, {"type": ["array", "null"], "items": {}}, [["a", 1]], [[]], [[{}]]),
    "dict": Case(f.DictField(child=f.IntegerField()), {"type": "object"}, {"type": ["object", "null"], "additionalProperties": {"type": ["integer", "null"]}}, [{"a": 1}], [[1]], [{"a": 1, "b": None}]),
    "hstore": Case(f.HStoreField(), {"type": "object"}, {"type": ["object", "null"], "additionalProperties": NULL_TEXT}, [{"a": "b"}], ["a"], [{"a": None}]),
    "json": Case(f.JSONField(), {}, {}, [[1], "a", {"b": None}], [], [[1]]),
    "file": Case(f.FileField(), ANY_TEXT, NULL_TEXT, [], [5], [ContentFile(b"", name="a.txt"), ""]),
    "hidden": Case(f.HiddenField(default=1), ABSENT, {}),
    "read-only": Case(f.ReadOnlyField(), ABSENT, {}, [], [], ["a", 1]),
    "string related": Case(f.StringRelatedField(), ABSENT, NULL_TEXT, [], [], [5]),
    "hyperlink": Case(f.HyperlinkedIdentityField("user-detail"), ABSENT, NULL_TEXT),
    "field of no kind": Case(f.Field(), {}, {}),
}  # fmt: skip
if hasattr(f, "BigIntegerField"):  # since REST framework 3.17
    CASES |= {
        "big integer": Case(f.BigIntegerField(), {"type": "integer"}, {"type": ["integer", "null"]}, [2**60], [], [2**60]),
        "big integer as text": Case(f.BigIntegerField(coerce_to_string=True), ANY_TEXT, NULL_TEXT, ["7"], [[]], [2**60]),
    }  # fmt: skip
CLASSES = {
    target
    for module in (fields, relations, serializers)
    for _, target in inspect.getmembers(module, inspect.isclass)
    if issubclass(target, fields.Field) and target.__module__.startswith("rest_framework.")
}
# Fields that accept and represent values of any type.
OPEN_INPUT = {
    fields.Field,
    fields.ModelField,
    fields.ReadOnlyField,
    fields.HiddenField,
    fields.SerializerMethodField,
    fields._UnvalidatedField,
    relations.RelatedField,
    relations.StringRelatedField,
    serializers.BaseSerializer,
}
# A stored value may be missing in the choices.
OPEN_OUTPUT = {*OPEN_INPUT, fields.ChoiceField, fields.FilePathField}
OPEN_OUTPUT -= {relations.StringRelatedField}


def test_every_field_class_has_a_describer_or_is_known_to_be_open():
    described = {c: type(DescribedField(object.__new__(c)).describer) for c in CLASSES}
    for hook, are_open in (("get_input_schema", OPEN_INPUT), ("get_output_schema", OPEN_OUTPUT)):
        default = getattr(FieldDescriber, hook)
        assert {c for c in CLASSES if getattr(described[c], hook) is default} == are_open


def input_schema(make):
    return write_portable(DescribedField(make).input_schema)


def test_input_schemas():
    found = {name: input_schema(case.make) for name, case in CASES.items()}
    for schema in found.values():
        assert_portable(schema)
    expected = {name: c.accepts for name, c in CASES.items() if c.accepts is not ABSENT}
    assert {name: bare(found[name]) for name in expected} == expected


def test_output_schemas():
    found = {name: DescribedField(case.make).output_schema for name, case in CASES.items()}
    for schema in found.values():
        Draft202012Validator.check_schema(schema)
    expected = {name: c.represents for name, c in CASES.items() if c.represents is not ABSENT}
    assert {name: bare(found[name]) for name in expected} == expected


def test_the_field_and_its_schema_accept_and_refuse_the_same_values():
    found, expected = {}, {}
    for name, case in CASES.items():
        schema = Draft202012Validator(input_schema(case.make))
        values = (*case.taken, *case.refused)
        found[name] = [(is_read(case.make, value), schema.is_valid(value)) for value in values]
        expected[name] = [(True, True)] * len(case.taken) + [(False, False)] * len(case.refused)
    assert found == expected


def is_read(make, value):
    try:
        make.run_validation(value)
    except serializers.ValidationError:
        return False
    return True


def test_representations_are_valid_by_the_output_schema():
    for case in CASES.values():
        schema = Draft202012Validator(DescribedField(case.make).output_schema)
        for value in (*case.given, None):
            shown = None if value is None else case.make.to_representation(value)
            schema.validate(json.loads(JSONRenderer().render([shown]))[0])


# Descriptions


def test_descriptions_of_the_input():
    descriptions = [
        (f.CharField(help_text=gettext_lazy("What it is")), "What it is."),
        (f.CharField(help_text="<ul><li>Not &quot;a&quot;</li><li>Nor b</li></ul>"), 'Not "a" Nor b.'),
        (f.CharField(label="Given name"), "Given name."),
        (f.CharField(allow_null=True), "May be null."),
        (f.IntegerField(help_text="Count!", allow_null=True), "Count! May be null."),
        (f.EmailField(), ""),
        (f.DateField(), ""),
        (f.DateField(input_formats=["%d/%m/%Y"]), "Format: DD/MM/YYYY."),
        (f.DateTimeField(input_formats=["iso-8601", "%d/%m/%Y"]), ""),
        (f.UUIDField(), "UUID."),
        (f.FileField(), "File as base64 or data URI (data:TYPE;name=NAME;base64,...), at most 1.0 MB."),
        (f.DecimalField(max_digits=5, decimal_places=2), ""),
        (f.DecimalField(max_digits=5, decimal_places=2, localize=True), "Decimal number. At most 5 digits, 2 decimal places."),
        (f.DecimalField(max_digits=None, decimal_places=None, min_value=3), "Decimal number. At least 3."),
        (f.DurationField(min_value=datetime.timedelta(1)), "At least 1 day, 0:00:00. Duration, [DD] [hh:[mm:]]ss."),
        (f.CharField(min_length=2, allow_blank=True), "At least 2 characters, or empty."),
        (f.ChoiceField(Size.choices), "s = Small, l = Large."),
        (f.ChoiceField(["open", "shut"]), ""),
        (f.ChoiceField(["open"], allow_blank=True), "May be blank."),
        (f.RegexField(r"^\w\Z"), r"Must match ^\w\Z."),
        (f.SlugField(allow_unicode=True), "Enter a valid \"slug\" consisting of Unicode letters, numbers, underscores, or hyphens."),
        (f.CharField(validators=[validators.RegexValidator("^a", "Starts with a")]), "Starts with a."),
        (f.CharField(validators=[validators.RegexValidator("b", inverse_match=True)]), "Must not match b."),
        (f.IntegerField(validators=[validators.StepValueValidator(5)]), "In steps of 5."),
        (f.DictField(child=f.IntegerField(), allow_empty=False), "Values: an integer. At least 1 member."),
        (f.CharField(validators=[lambda value: None]), ""),
    ]  # fmt: skip
    found = [input_schema(make).get("description", "") for make, _ in descriptions]
    assert found == [words for _, words in descriptions]


COUNTRIES = [(f"{one}{two}", f"Country {one}{two}") for one in "ABCDEFGH" for two in "ABCDEFG"]
COUNTRIES += [("DE", "Germany"), ("FR", "France")]
MANY = {"type": "string", "description": "One of 57 values, such as AA, AB, AC."}


def test_more_than_fifty_choices_are_no_enum():
    for make, expected in (
        (f.ChoiceField(COUNTRIES), MANY),
        (f.MultipleChoiceField(choices=COUNTRIES), {"type": "array", "items": MANY}),
        (f.ChoiceField(range(51)), {"type": "integer", "description": "One of 51 values, such as 0, 1, 2."}),
        (f.ChoiceField(range(50)), {"type": "integer", "enum": list(range(50))}),
    ):  # fmt: skip
        assert input_schema(make) == expected


def test_a_value_that_is_none_of_many_choices_is_answered_with_similar_ones():
    written = input_schema(f.ChoiceField(COUNTRIES))
    for received, words in (
        ("germany", "one of DE = Germany, …"),
        ("Frnce", "one of FR = France, …"),
        (["DE", "Germny"], "one of DE = Germany, …"),
        (7, "one of AA = Country AA, AB = Country AB, AC = Country AC, AD = Country AD, AE = Country AE, …"),
    ):  # fmt: skip
        assert describe_accepted(written, received) == words


# Defaults


def test_a_default_is_in_the_schema_if_it_is_valid_json_for_the_field():
    cases = [
        (f.CharField(default="a"), "a"),
        (f.BooleanField(default=False), False),
        (f.IntegerField(default=3), 3),
        (f.ChoiceField(Size.choices, default=Size.SMALL), "s"),
        (f.DecimalField(max_digits=3, decimal_places=1, default=Decimal("1.5")), "1.5"),
        (f.ListField(default=[1]), [1]),
        (f.JSONField(default=True), True),
        (f.IntegerField(default=lambda: 3), ABSENT),
        (f.IntegerField(default="3"), ABSENT),
        (f.IntegerField(default=True), ABSENT),
        (f.FloatField(default=float("inf")), ABSENT),
        (f.DateField(default=datetime.date(2026, 1, 1)), ABSENT),
        (f.JSONField(default={1, 2}), ABSENT),
        (f.CharField(default=None, allow_null=True), ABSENT),
        (f.CharField(default=""), ABSENT),
        (f.CharField(default="", allow_blank=True), ""),
        (f.IntegerField(default=0, min_value=1), ABSENT),
        (f.ChoiceField(["a"], default=""), ABSENT),
        (f.ListField(default=[], allow_empty=False), ABSENT),
    ]
    schemas = [DescribedField(make).input_schema for make, _ in cases]
    found = [schema.get("default", ABSENT) for schema in schemas]
    assert list(map(repr, found)) == [repr(default) for _, default in cases]
    json.dumps(schemas)


# Fields of a project


def test_a_subclass_is_described_by_its_nearest_base():
    class Percentage(f.IntegerField):
        pass

    assert DescribedField(Percentage(max_value=100)).input_schema == {
        "type": "integer",
        "maximum": 100,
    }
    assert DescribedField(Percentage()).output_schema == {"type": ["integer", "null"]}


class Money(f.Field):
    """Reads and writes an object."""

    def to_internal_value(self, data):
        return data["amount"]

    def to_representation(self, value):
        return {"amount": value}


class Price(Money):
    """Accepts any value."""

    def to_internal_value(self, data):
        return data


class MoneyDescriber(FieldDescriber):
    field_classes = (Money,)

    def get_input_schema(self):
        return {"type": "object", "properties": {"amount": {"type": "string"}}}

    get_output_schema = get_input_schema


def test_a_describer_of_a_project_describes_its_field():
    schema = DescribedField(Money(help_text="What it costs.")).input_schema
    assert bare(schema) == MoneyDescriber.get_input_schema(None)
    assert schema["description"] == "What it costs."
    assert DescribedField(Money()).output_schema["type"] == ["object", "null"]


# Fields whose schema needs more than the field
