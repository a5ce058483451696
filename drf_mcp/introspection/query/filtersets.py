"""Filters of django-filter: one query parameter each, or two for a range."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django import forms
from django.db import models
from django_filters import fields, filters
from django_filters.utils import label_for_filter
from django_filters.widgets import BaseCSVWidget

from drf_mcp.introspection.closed_sets import (
    ClosedSet,
    FilterPart,
    FormValues,
    LongestTexts,
    OrderingTerms,
)
from drf_mcp.introspection.field_schema import FieldSchema, explain, make_text
from drf_mcp.introspection.fields import describe_choices, flatten_choices
from drf_mcp.introspection.model_fields import describe_input, find_model_field
from drf_mcp.introspection.source.members import find_package
from drf_mcp.introspection.text import clean_text, leave_out_commas, says_more
from drf_mcp.introspection.types import (
    ANY,
    Parameter,
    Parameters,
    Relation,
    Schema,
    ValueInfo,
    ValueInfos,
)

STRING: Schema = {"type": "string"}
READERS = ("clean", "to_python")
WRITERS = ("to_python", "get_prep_value", "get_db_prep_value")
REFUSING = [fields.BaseCSVField.clean, forms.ModelMultipleChoiceField.clean]
ENDS = {"gt": "lower", "gte": "lower", "lt": "upper", "lte": "upper"}
# The nearest class of a form field's MRO counts.
SCALARS: dict[type, Schema] = {
    forms.Field: STRING,
    forms.IntegerField: {"type": "integer"},
    forms.DecimalField: {"type": "number"},
    forms.FloatField: {"type": "number"},
    forms.BooleanField: {"type": "boolean"},
    forms.DateField: make_text("date"),
    forms.DateTimeField: make_text("date-time"),
    forms.TimeField: make_text("time"),
    forms.DurationField: make_text("duration"),
    forms.UUIDField: make_text("uuid"),
    forms.EmailField: make_text("email"),
}
BOUNDS = {
    "minimum": "min_value",
    "maximum": "max_value",
    "minLength": "min_length",
    "maxLength": "max_length",
}

CHOOSING = (filters.ChoiceFilter, filters.MultipleChoiceFilter)
PACKAGES = frozenset({"django", "django_filters"})
UNNAMED = "[invalid name]"  # django-filter's label for a filter that is no model field
BOUND_WORDS = {
    "gt": "More than this",
    "gte": "This or more",
    "lt": "Less than this",
    "lte": "This or less",
}


class FilterParameters:
    # The parameters of one filter, described by its form field, or by the column where the form
    # field would ask the database or needs a caller.

    def __init__(self, name: str, item: filters.Filter, *, is_lenient: bool = False) -> None:
        self.name = name
        self.item = item
        self.is_lenient = is_lenient
        self.model = getattr(item, "model", None)
        self.column = find_model_field(self.model, item.field_name)

    @property
    def is_plain(self) -> bool:
        """Whether the filter does what its lookup says, without code of the project's."""
        item = self.item
        own = item.method or item.exclude
        return not own and find_package(type(item), "filter") in PACKAGES

    @property
    def _sorts(self) -> bool:
        return isinstance(self.item, filters.OrderingFilter)

    def get_parameters(self) -> Parameters:
        if isinstance(self.item, (filters.AllValuesFilter, filters.AllValuesMultipleFilter)):
            return (self._describe_column(self.column, "One of the values in use"),)
        field = self.item.field
        if isinstance(field, forms.MultiValueField):
            return self._find_parts(field)
        value, multiple = self.get_schema(field), _find_separator(field)
        schema: Schema = {"type": "array", "items": value} if multiple else value
        if isinstance(field, fields.BaseRangeField):
            schema |= {"minItems": 2, "maxItems": 2}
        closed = self._find_closed(field, value, multiple)
        if isinstance(closed, LongestTexts):
            longest = FieldSchema.of(value) | {"maxLength": closed.max_length}
            schema = {**schema, "items": longest} if multiple else longest
        return (
            Parameter(
                self.name,
                self.explain(schema, field),
                field.required,
                multiple,
                self._make_value_info(field, multiple),
                closed=closed,
                part=None if multiple else self._find_bound(field),
                listed=not _refuses_all(field),
                role="sort" if self._sorts else "filter",
                terms=tuple(map(str, self.item.param_map.values())) if self._sorts else (),
            ),
        )

    def has_other_choices(self, declared: Any) -> bool:
        """Whether the choices are others than the class declares, such as rows."""
        item = self.item
        if not isinstance(item, CHOOSING) or isinstance(item, filters.QuerySetRequestMixin):
            return False
        choices = getattr(declared, "extra", {}).get("choices") or ()
        if callable(choices):  # not described
            return False
        known, today = flatten_choices(choices), flatten_choices(item.field.choices)
        return not known or bool(today.keys() - known.keys() - {item.null_value})

    def find_related_rows(self) -> Parameters:
        # For a form field that cannot be made, since its queryset needs a caller.
        model = getattr(self.column, "related_model", None)
        if model is None or not isinstance(self.item, filters.QuerySetRequestMixin):
            return ()
        key = self.item.extra.get("to_field_name") or "pk"
        several = isinstance(self.item, filters.MultipleChoiceFilter)
        info = ValueInfo(relation=Relation(model, key))
        found = self._describe_column(find_model_field(model, key))
        return (replace(found, value_info={(ANY,) if several else (): info}),)

    def _describe_column(self, column: Any, sentence: str = "") -> Parameter:
        extra = self.item.extra
        words = self._name_purpose(self.item.label, {})
        purpose = clean_text(extra.get("help_text")) or words
        schema: Schema = explain(describe_input(column) or STRING, purpose, sentence)
        several = isinstance(self.item, filters.MultipleChoiceFilter)
        schema = {"type": "array", "items": schema} if several else schema
        required = bool(extra.get("required"))
        return Parameter(self.name, schema, required, "repeat" if several else None)

    def _find_parts(self, field: forms.MultiValueField) -> Parameters:
        name, widget = self.name, field.widget
        numbered = [part.lstrip("_") for part in getattr(widget, "widgets_names", ())]
        suffixes = getattr(widget, "suffixes", numbered)
        names = [f"{name}_{suffix}" if suffix else name for suffix in suffixes]
        found = []
        # No row is in a range whose ends are exchanged.
        is_range = isinstance(self.item, filters.RangeFilter) and self.is_plain
        ends = ("lower", "upper") if is_range and len(names) == 2 else ("",) * len(names)
        for part, part_name, end in zip(field.fields, names, ends, strict=False):
            schema = self.explain(self.get_schema(part), field)
            # One end of a range is enough, a value without its lookup is not.
            if part_name == name and isinstance(field, fields.LookupChoiceField):
                schema = explain(schema, f"Needs {names[-1]}")
            read = FilterPart(name, part, f"{name} alone" if end else "", end)
            found.append(Parameter(part_name, schema, field.required, part=read))
        return tuple(found)

    def get_schema(self, field: Any) -> Schema:
        if isinstance(field, forms.ModelChoiceField):
            chosen = _find_chosen(field)
            return describe_input(find_model_field(chosen.model, chosen.key)) or dict(STRING)
        if isinstance(field, forms.ChoiceField):
            return self._make_choice_schema(field)
        if any(find_package(type(field), name) not in PACKAGES for name in READERS):
            return dict(STRING)
        base = next(base for base in type(field).__mro__ if base in SCALARS)
        limits = {name: getattr(field, bound, None) for name, bound in BOUNDS.items()}
        numbers = {name: n for name, n in limits.items() if isinstance(n, (int, float))}
        return FieldSchema.of(SCALARS[base]) | numbers

    def _make_choice_schema(self, field: Any) -> Schema:
        if callable(self.item.extra.get("choices")):
            return dict(STRING)
        choices = flatten_choices(field.choices)
        if self._sorts and (terms := OrderingTerms.among(choices)):
            return {**STRING, "pattern": terms.pattern}
        # The form compares text: a boolean choice is spelled the way Python does.
        return describe_choices(
            {
                str(value) if isinstance(value, bool) else value: "" if self._sorts else label
                for value, label in choices.items()
            }
        )

    def _make_value_info(self, field: Any, multiple: str | None) -> ValueInfos:
        column, several, relation = self.column, bool(multiple), None
        if isinstance(field, forms.ModelChoiceField):
            several = isinstance(field, forms.ModelMultipleChoiceField)
            relation = _find_chosen(field)
        elif self.item.lookup_expr not in ("exact", "in"):
            return {}
        # What identifies another model's object: "owner_id", "owner__username".
        elif getattr(column, "related_model", None) is not None and column.concrete:
            relation = Relation(column.related_model, "pk")
        elif "__" in (self.item.field_name or "") and getattr(column, "unique", False):
            relation = Relation(column.model, column.name)
        return {(ANY,) if several else (): ValueInfo(relation=relation)} if relation else {}

    def _find_closed(self, field: Any, value: Schema, multiple: str | None) -> ClosedSet | None:
        """Return the values that the filter uses, None where it ignores no value."""
        item, column = self.item, self.column
        longest = getattr(column, "max_length", None)
        # A column of Django's own holds no longer text.
        if (
            longest
            and isinstance(column, models.CharField)
            and not {find_package(type(column), name) for name in WRITERS} - PACKAGES
            and value == STRING
            and item.lookup_expr in ("exact", "in")
            and self.is_plain
        ):
            return LongestTexts(longest, "," if multiple == "comma" else "")
        if multiple or isinstance(field, forms.ModelChoiceField):
            return None
        # NullBooleanField reads any other text as None, and the filter is ignored.
        if not self.is_lenient and not isinstance(field, forms.NullBooleanField):
            return None
        readers = (*((field, name) for name in READERS), (field.widget, "value_from_datadict"))
        # A form field of the project's may need rows or a request to read a value.
        if any(find_package(type(owner), name) not in PACKAGES for owner, name in readers):
            return None
        return FormValues(field, value, self.is_lenient)

    def _find_bound(self, field: forms.Field) -> FilterPart | None:
        # Not over a relation to many rows: one row may meet one bound, and another row the other.
        item, column = self.item, self.column
        end = ENDS.get(item.lookup_expr)
        if not end or not self.is_plain or column is None or "__" in item.field_name:
            return None
        to_many = column.is_relation and (column.many_to_many or column.one_to_many)
        return None if to_many else FilterPart(self.name, field, item.field_name, end)

    def explain(self, schema: Schema, field: Any) -> Schema:
        purpose = self._find_purpose(field, schema)
        words = explain({}, purpose, schema.get("description", ""))
        return FieldSchema.of(schema) | words

    # --- What the description says ------------------------------------------------------------

    def _find_purpose(self, field: Any, schema: Schema) -> str:
        help_text = clean_text(field.help_text)
        # Such as django-filter's "Multiple values may be separated by commas."
        if schema.get("type") == "array":
            help_text = leave_out_commas(help_text)
        return help_text or self._name_purpose(field.label, schema)

    def _name_purpose(self, label: Any, schema: Schema) -> str:
        named = clean_text(label)
        if not says_more(named, self.name) or UNNAMED in named:
            return self._get_help_text()
        if not self._has_generated_label(named):
            return named
        # The filter's name says the rest of what django-filter's label says.
        is_number = schema.get("type") in ("integer", "number")
        return BOUND_WORDS.get(self.item.lookup_expr, "") if is_number else ""

    def _has_generated_label(self, label: str) -> bool:
        """Whether django-filter gave the filter both its label and its name."""
        item = self.item
        names = (item.field_name, f"{item.field_name}__{item.lookup_expr}")
        if self.model is None or item.exclude or self.name not in names:
            return False
        return bool(label == label_for_filter(self.model, item.field_name, item.lookup_expr))

    def _get_help_text(self) -> str:
        # The help text of the model field. Django's own models have texts for people who fill in
        # a form ("Required. 150 characters or fewer.").
        field = self.column
        if field is None or field.model.__module__.partition(".")[0] in PACKAGES:
            return ""
        return clean_text(getattr(field, "help_text", ""))


def _find_separator(field: Any) -> str | None:
    if isinstance(field, fields.BaseCSVField) or isinstance(field.widget, BaseCSVWidget):
        return "comma"
    return "repeat" if getattr(field.widget, "allow_multiple_selected", False) else None


def _find_chosen(field: Any) -> Relation:
    return Relation(field.queryset.model, field.to_field_name or "pk")


def _refuses_all(field: Any) -> bool:
    # django-filter's ``in`` of a many-to-many field: the form field is given single values, and
    # takes lists only.
    owners = (vars(base) for base in type(field).__mro__)
    return [own["clean"] for own in owners if "clean" in own][:2] == REFUSING
