"""`FieldDescriber`, and the describers of REST framework's own fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from enum import Enum
from typing import Any, ClassVar

from django.template.defaultfilters import filesizeformat
from django.utils.text import capfirst
from rest_framework import ISO_8601, fields
from rest_framework.settings import api_settings
from rest_framework.utils import humanize_datetime

from drf_mcp.introspection.field_schema import (
    ANY_VALUE,
    DECIMAL,
    FILE,
    IMAGE,
    MOST_VALUES,
    WHOLE_NUMBER,
    FieldSchema,
    explain,
    join_sentences,
    make_own_format,
    make_text,
    name_json_type,
)
from drf_mcp.introspection.model_fields import find_model_field
from drf_mcp.introspection.text import clean_text, join_values, says_more, with_plural
from drf_mcp.introspection.types import Schema
from drf_mcp.settings import mcp_settings

STRING: Schema = {"type": "string"}


class FieldDescriber:
    """Describes the serializer fields of some classes as JSON Schema.

    Each field is described by the describer of the nearest class in its MRO. A subclass
    whose `field_classes` name a project's own fields is found as soon as it is imported,
    for example in an app's ``mcp.py``::

        class MoneyDescriber(FieldDescriber):
            field_classes = (MoneyField,)

            def get_input_schema(self):
                return {"type": "string", "description": "An amount such as 12.50 EUR."}

            def get_output_schema(self):
                return {"type": "object", "properties": {"amount": {"type": "string"}}}

    Help texts, defaults, null and validators are added to what the hooks return.

    Attributes:
        field_classes: the field classes, and so their subclasses.
        field: the serializer field to describe.
        describe: returns the `DescribedField` of a field inside this one.
    """

    field_classes: ClassVar[tuple[type, ...]] = ()
    registry: ClassVar[dict[type, type[FieldDescriber]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        FieldDescriber.registry.update(dict.fromkeys(vars(cls).get("field_classes", ()), cls))

    def __init__(self, field: Any, describe: Callable[[Any], Any]) -> None:
        self.field = field
        self.describe = describe

    def _find_nearest_describer(self, table: Mapping[type, str]) -> str:
        return next(table[base] for base in type(self.field).__mro__ if base in table)

    def get_input_schema(self) -> Schema:
        """Return the schema of the values that the field takes; ``{}`` for any."""
        return {}

    def get_output_schema(self) -> Schema:
        """Return the schema of the values that the field gives; ``{}`` for any."""
        return {}


class NumberDescriber(FieldDescriber):
    json_types: ClassVar[dict[type, str]] = {
        fields.BooleanField: "boolean",
        fields.IntegerField: "integer",
        fields.FloatField: "number",
    }
    field_classes = tuple(json_types)

    def get_input_schema(self) -> Schema:
        return {"type": self._find_nearest_describer(self.json_types)}

    get_output_schema = get_input_schema


class BigIntegerDescriber(FieldDescriber):
    # Since REST framework 3.17.
    field_classes = (fields.BigIntegerField,) if hasattr(fields, "BigIntegerField") else ()

    def get_input_schema(self) -> Schema:
        # As a string the number keeps its digits in clients of JavaScript.
        by_setting = getattr(api_settings, "COERCE_BIGINT_TO_STRING", False)
        if getattr(self.field, "coerce_to_string", by_setting):
            return FieldSchema(STRING).with_kind(WHOLE_NUMBER)
        return {"type": "integer"}

    get_output_schema = get_input_schema


class DecimalDescriber(FieldDescriber):
    field_classes = (fields.DecimalField,)

    def get_input_schema(self) -> Schema:
        field = self.field
        digits, places, least = field.max_digits, field.decimal_places, field.min_value
        limits, pattern = [], ""
        if digits is not None:
            limits.append(f"at most {with_plural(digits, 'digit')}")
        if places is not None:
            limits.append(with_plural(places, "decimal place"))
        # A localized field takes the separators of a language.
        if places is not None and not getattr(field, "localize", False):
            sign = "" if isinstance(least, (int, float, Decimal)) and least >= 0 else "-?"
            part = rf"\.\d{{1,{places}}}" if places > 2 else r"\.\d" + r"\d?" * (places - 1)
            whole = r"\d+" if digits is None else rf"\d{{1,{digits - places}}}"
            # With no digit before the point, a zero alone is refused.
            number = f"0{part}" if digits == places else f"{whole}({part})?" if places else whole
            pattern = f"^{sign}{number}$"
        # The sentence has the limits, since write_text drops it where the pattern says the same.
        sentence = join_sentences(DECIMAL.sentence, capfirst(", ".join(limits)))
        kind = replace(DECIMAL, sentence=sentence, pattern=pattern)
        schema = FieldSchema(self.get_output_schema()).with_kind(kind)
        return schema.with_meaning(limits=tuple(limits))

    def get_output_schema(self) -> Schema:
        by_setting = api_settings.COERCE_DECIMAL_TO_STRING
        as_string = getattr(self.field, "coerce_to_string", by_setting)
        return {"type": "string" if as_string else "number"}


DATE_FORMATS = {
    "date-time": ("DATETIME_INPUT_FORMATS", humanize_datetime.datetime_formats),
    "date": ("DATE_INPUT_FORMATS", humanize_datetime.date_formats),
    "time": ("TIME_INPUT_FORMATS", humanize_datetime.time_formats),
}


class TextDescriber(FieldDescriber):
    # These are the formats of the input. In answers, times, durations, addresses and naive dates
    # often do not keep to them.
    formats: ClassVar[dict[type, str]] = {
        fields.CharField: "",
        fields.EmailField: "email",
        fields.URLField: "uri",
        fields.IPAddressField: "ip",
        fields.UUIDField: "uuid",
        fields.DateTimeField: "date-time",
        fields.DateField: "date",
        fields.TimeField: "time",
        fields.DurationField: "duration",
    }
    field_classes = tuple(formats)

    def get_input_schema(self) -> Schema:
        field, name = self.field, self._find_nearest_describer(self.formats)
        if name in DATE_FORMATS:
            setting, humanize = DATE_FORMATS[name]
            formats = getattr(field, "input_formats", getattr(api_settings, setting))
            standard = [input_format.lower() == ISO_8601 for input_format in formats]
            if not any(standard):
                return FieldSchema(STRING).with_kind(make_own_format(humanize(formats)))
            return make_text(name) if all(standard) else make_text(name).without_pattern()
        if name == "uuid":
            # Callers send an id in the form in which an answer has it.
            own_form = field.uuid_format not in ("hex", "hex_verbose")
            return make_text(name).without_pattern() if own_form else make_text(name)
        if name == "duration":
            return make_text(name)
        if name == "ip" and field.protocol in ("ipv4", "ipv6"):
            name = field.protocol
        schema = make_text(name, blank=field.allow_blank) if name else FieldSchema(STRING)
        if not field.allow_blank:
            # REST framework refuses a blank text.
            schema["minLength"] = 1
        return schema

    def get_output_schema(self) -> Schema:
        return {"type": "integer" if getattr(self.field, "uuid_format", "") == "int" else "string"}


class FileDescriber(FieldDescriber):
    field_classes = (fields.FileField,)

    def get_input_schema(self) -> Schema:
        kind = IMAGE if isinstance(self.field, fields.ImageField) else FILE
        limit = filesizeformat(mcp_settings.MAX_UPLOAD_BYTES).replace("\xa0", " ")
        words = f"{kind.sentence} (data:TYPE;name=NAME;base64,...), at most {limit}"
        return explain(FieldSchema(STRING).with_meaning(kind=kind), words)

    def get_output_schema(self) -> Schema:
        return dict(STRING)


def describe_choices(choices: Mapping[Any, Any]) -> FieldSchema:
    # REST framework compares choices as texts. Values of several types are enumerated as strings,
    # and so are whole floats: a client may write 1.0 as 1.
    raw = [(v.value if isinstance(v, Enum) else v, label) for v, label in choices.items()]
    named: list[tuple[Any, Any]] = [
        (value if isinstance(value, (bool, int, float)) else str(value), label)
        for value, label in raw
        if value is not None
    ]
    kinds = {name_json_type(value) or "string" for value, label in named}
    json_type = kinds.pop() if len(kinds) == 1 else "string"
    if json_type == "number" and any(value.is_integer() for value, label in named):
        json_type = "string"
    is_text = json_type == "string"
    values = dict.fromkeys(str(value) if is_text else value for value, label in named)
    schema = FieldSchema({"type": json_type, **({"enum": list(values)} if values else {})})
    labelled = tuple(pair for pair in named if pair[0] != "")
    if len(labelled) > MOST_VALUES:
        return schema.with_meaning(choices=labelled)
    # Lists have numbers in words alone, so all are named as soon as one has a label.
    names = [
        (value if isinstance(value, str) else json.dumps(value), clean_text(label))
        for value, label in named
    ]
    labels = {value: label for value, label in names if says_more(label, value)}
    shown = (value for value, _ in names if value in labels or (labels and not is_text))
    words = (f"{value} = {labels[value]}" if value in labels else value for value in shown)
    return explain(schema, join_values(words))


class ChoiceDescriber(FieldDescriber):
    field_classes = (fields.ChoiceField,)

    def get_input_schema(self) -> Schema:
        choices = dict(self.field.choices)
        if self.field.allow_blank:
            choices.setdefault("", "")
        return describe_choices(choices)


class MultipleChoiceDescriber(FieldDescriber):
    field_classes = (fields.MultipleChoiceField,)

    def get_input_schema(self) -> Schema:
        return make_array(self.field, describe_choices(self.field.choices))

    def get_output_schema(self) -> Schema:
        # An answer may have a stored value that is no choice.
        return {"type": "array", "items": {}}


class ListDescriber(FieldDescriber):
    field_classes = (fields.ListField,)

    def get_input_schema(self) -> Schema:
        return make_array(self.field, self.describe(self.field.child).input_schema)

    def get_output_schema(self) -> Schema:
        return {"type": "array", "items": self.describe(self.field.child).output_schema}


class DictDescriber(FieldDescriber):
    field_classes = (fields.DictField,)

    def get_input_schema(self) -> Schema:
        least = {} if self.field.allow_empty else {"minProperties": 1}
        values = self.describe(self.field.child).input_schema
        return {"type": "object", **least, **({"additionalProperties": values} if values else {})}

    def get_output_schema(self) -> Schema:
        values = self.describe(self.field.child).output_schema
        return {"type": "object", **({"additionalProperties": values} if values else {})}


class JSONDescriber(FieldDescriber):
    field_classes = (fields.JSONField,)

    def get_input_schema(self) -> Schema:
        if self.field.binary:
            return self.get_output_schema()
        json_type = name_json_type(self.field.default) or name_json_type(self.get_column_default())
        schema = FieldSchema(explain({}, ANY_VALUE))
        return schema.with_meaning(json_type=json_type or "object")

    def get_column_default(self) -> Any:
        field = self.field
        model = getattr(getattr(field.parent, "Meta", None), "model", None)
        return getattr(find_model_field(model, field.source or ""), "default", None)

    def get_output_schema(self) -> Schema:
        return {"type": "string", "description": "JSON as text"} if self.field.binary else {}


def make_array(field: Any, items: Schema) -> Schema:
    schema: Schema = {"type": "array", "items": items}
    return schema if field.allow_empty else {**schema, "minItems": 1}


def flatten_choices(choices: Any) -> dict[Any, Any]:
    flat: dict[Any, Any] = {}
    for value, label in choices:
        if isinstance(label, (list, tuple)):
            flat.update(flatten_choices(label))
        elif value not in ("", None):
            flat[value] = label
    return flat
