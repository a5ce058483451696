"""Filters of django-filter: one query parameter each, or two for a range."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.db import models
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext as _
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
from drf_mcp.introspection.text import clean_text, says_more
from drf_mcp.introspection.types import (
    ANY,
    PLAIN,
    Handling,
    Parameter,
    Parameters,
    Relation,
    Schema,
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


class FilterParameters:
    def __init__(self, name: str, item: filters.Filter, *, is_lenient: bool = False) -> None:
        self.name = name
        self.item = item
        self.is_lenient = is_lenient
        self.required = bool(item.extra.get("required"))

    def get_parameters(self) -> Parameters:
        if isinstance(self.item, (filters.AllValuesFilter, filters.AllValuesMultipleFilter)):
            return (self.get_stored_value(),)
        form_field = FilterField(self.item.field, self.item)
        if isinstance(form_field.field, forms.MultiValueField):
            return self.get_parts(form_field.field)
        schema, multiple = form_field.get_value_schema()
        closed = self.get_closed(form_field, schema, multiple)
        if isinstance(closed, LongestTexts):
            schema = form_field.limit(schema, closed.max_length)
        sorts = isinstance(self.item, filters.OrderingFilter)
        return (
            Parameter(
                self.name,
                form_field.explain(schema, self.name),
                form_field.field.required,
                multiple,
                form_field.get_handling(),
                closed=closed,
                part=None if multiple else self.get_bound(form_field.field),
                listed=not form_field.refuses_all,
                role="sort" if sorts else "filter",
                terms=tuple(map(str, self.item.param_map.values())) if sorts else (),
            ),
        )

    def get_closed(
        self, form_field: FilterField, schema: Schema, multiple: str | None
    ) -> ClosedSet | None:
        item, column = self.item, self.column
        longest = getattr(column, "max_length", None)
        # Django's own columns hold no longer text, whichever rows there are.
        if (
            longest
            and isinstance(column, models.CharField)
            and not {find_package(type(column), name) for name in WRITERS} - PACKAGES
            and schema in (STRING, {"type": "array", "items": STRING})
            and item.lookup_expr in ("exact", "in")
            and self.is_plain
        ):
            return LongestTexts(longest, "," if multiple == "comma" else "")
        return None if multiple else form_field.get_values(schema, self.is_lenient)

    def get_bound(self, field: forms.Field) -> FilterPart | None:
        # Of a column of the model itself: of several related rows each may meet another bound.
        item, column = self.item, self.column
        end = ENDS.get(item.lookup_expr)
        if not end or not self.is_plain or column is None or "__" in item.field_name:
            return None
        to_many = column.is_relation and (column.many_to_many or column.one_to_many)
        return None if to_many else FilterPart(self.name, field, item.field_name, end)

    @property
    def column(self) -> Any:
        return find_model_field(getattr(self.item, "model", None), self.item.field_name)

    @property
    def is_plain(self) -> bool:
        # Whether the filter does what its lookup says, and nothing of a project's own.
        item = self.item
        own = item.method or item.exclude
        return not own and find_package(type(item), "filter") in PACKAGES

    def get_related_rows(self) -> Parameters:
        # Rows that need a caller cannot be asked: the type of their key is read from the model.
        item = self.item
        if not isinstance(item, filters.QuerySetRequestMixin):
            return ()
        own = find_model_field(getattr(item, "model", None), item.field_name)
        model = getattr(own, "related_model", None)
        if model is None:
            return ()
        key = item.extra.get("to_field_name") or "pk"
        schema = describe_input(find_model_field(model, key)) or dict(STRING)
        several = isinstance(item, filters.MultipleChoiceFilter)
        handling = Handling(relations={(ANY,) if several else (): Relation(model, key)})
        value = explain(schema, self.get_purpose(item.extra))
        return (self.get_parameter(value, several=several, handling=handling),)

    def get_stored_value(self) -> Parameter:
        # The values in use are the choices: they would have to be asked of the database.
        item = self.item
        schema = (
            describe_input(find_model_field(getattr(item, "model", None), item.field_name))
            or STRING
        )
        value = explain(schema, self.get_purpose(item.extra), _("One of the values in use"))
        several = isinstance(item, filters.AllValuesMultipleFilter)
        return self.get_parameter(value, several=several)

    def get_purpose(self, extra: Mapping[str, Any]) -> str:
        # Of a filter whose form field would ask the database, or the caller.
        words = FilterWords(self.item, self.name)
        return clean_text(extra.get("help_text")) or words.name_purpose(self.item.label, {})

    def get_parameter(
        self, value: Schema, *, several: bool, handling: Handling = PLAIN
    ) -> Parameter:
        if not several:
            return Parameter(self.name, value, self.required, None, handling)
        schema = {"type": "array", "items": value}
        return Parameter(self.name, schema, self.required, "repeat", handling)

    def get_parts(self, field: forms.MultiValueField) -> Parameters:
        name, widget = self.name, field.widget
        numbered = [part.lstrip("_") for part in getattr(widget, "widgets_names", ())]
        suffixes = getattr(widget, "suffixes", numbered)
        names = [f"{name}_{suffix}" if suffix else name for suffix in suffixes]
        found = []
        # Both ends of a range are one condition, which no row meets if they are exchanged.
        is_range = isinstance(self.item, filters.RangeFilter) and self.is_plain
        ends = ("lower", "upper") if is_range and len(names) == 2 else ("",) * len(names)
        for part, part_name, end in zip(field.fields, names, ends, strict=False):
            schema = FilterField(field, self.item).explain(FilterField(part).get_schema(), name)
            # One end of a range is enough, a value without its lookup is not.
            if part_name == name and isinstance(field, fields.LookupChoiceField):
                schema = explain(schema, _("Needs %(name)s") % {"name": names[-1]})
            read = FilterPart(name, part, f"{name} alone" if end else "", end)
            found.append(Parameter(part_name, schema, field.required, part=read))
        return tuple(found)


class FilterField:
    def __init__(self, field: Any, item: filters.Filter | None = None) -> None:
        self.field = field
        self.item = item

    def get_schema(self) -> Schema:
        if isinstance(self.field, forms.ModelChoiceField):
            queryset = self.field.queryset
            model = queryset.model if queryset is not None else None
            return describe_input(find_model_field(model, self.key)) or dict(STRING)
        if isinstance(self.field, forms.ChoiceField):
            return self.get_choice_schema()
        if any(find_package(type(self.field), name) not in PACKAGES for name in READERS):
            return dict(STRING)
        base = next(base for base in type(self.field).__mro__ if base in SCALARS)
        limits = {name: getattr(self.field, bound, None) for name, bound in BOUNDS.items()}
        numbers = {name: n for name, n in limits.items() if isinstance(n, (int, float))}
        return FieldSchema.of(SCALARS[base]) | numbers  # type: ignore[no-any-return]

    def get_value_schema(self) -> tuple[Schema, str | None]:
        value, widget = self.get_schema(), self.field.widget
        if isinstance(self.field, fields.BaseRangeField):
            return {"type": "array", "items": value, "minItems": 2, "maxItems": 2}, "comma"
        if isinstance(self.field, fields.BaseCSVField) or isinstance(widget, BaseCSVWidget):
            return {"type": "array", "items": value}, "comma"
        if self.is_multiple:
            return {"type": "array", "items": value}, "repeat"
        return value, None

    def limit(self, schema: Schema, longest: int) -> Schema:
        if "items" in schema:
            return {**schema, "items": self.limit(schema["items"], longest)}
        return FieldSchema.of(schema) | {"maxLength": longest}  # type: ignore[no-any-return]

    @property
    def refuses_all(self) -> bool:
        # An ``in`` of a many-to-many field: its values come one by one, and are no lists.
        owners = (vars(base) for base in type(self.field).__mro__)
        return [own["clean"] for own in owners if "clean" in own][:2] == REFUSING

    @property
    def key(self) -> str:
        return self.field.to_field_name or "pk"

    @property
    def is_multiple(self) -> bool:
        return getattr(self.field.widget, "allow_multiple_selected", False)

    def get_choice_schema(self) -> Schema:
        if self.item is not None and callable(self.item.extra.get("choices")):
            return dict(STRING)
        choices = flatten_choices(self.field.choices)
        sorts = isinstance(self.item, filters.OrderingFilter)
        if sorts and (terms := OrderingTerms.among(choices)):
            return {**STRING, "pattern": terms.pattern}
        # The form compares text: a boolean choice is spelled the way Python does.
        return describe_choices(
            {
                str(value) if isinstance(value, bool) else value: "" if sorts else label
                for value, label in choices.items()
            }
        )

    def get_handling(self) -> Handling:
        field = self.field
        if not isinstance(field, forms.ModelChoiceField):
            return self.get_handling_of_column()
        if field.queryset is None:
            return PLAIN
        place = (ANY,) if isinstance(field, forms.ModelMultipleChoiceField) else ()
        return Handling(relations={place: Relation(field.queryset.model, self.key)})

    def get_handling_of_column(self) -> Handling:
        # What identifies another model's object: "owner_id", "owner__username".
        item = self.item
        if item is None or item.lookup_expr not in ("exact", "in"):
            return PLAIN
        name = item.field_name or ""
        column = find_model_field(getattr(item, "model", None), name)
        place = (ANY,) if self.get_value_schema()[1] else ()
        if getattr(column, "related_model", None) is not None and column.concrete:
            return Handling(relations={place: Relation(column.related_model, "pk")})
        if "__" in name and getattr(column, "unique", False):
            return Handling(relations={place: Relation(column.model, column.name)})
        return PLAIN

    def get_values(self, schema: Schema, is_lenient: bool) -> ClosedSet | None:
        # Return the values of which the filter makes use, None where it ignores no other.
        field, widget = self.field, self.field.widget
        if isinstance(field, forms.ModelChoiceField):
            return None
        # Django's field for yes and no takes any other text for no answer.
        if not is_lenient and not isinstance(field, forms.NullBooleanField):
            return None
        readers = (*((field, name) for name in READERS), (widget, "value_from_datadict"))
        # What a project's own code reads may need rows or a request.
        if any(find_package(type(owner), name) not in PACKAGES for owner, name in readers):
            return None
        return FormValues(field, schema, is_lenient)

    def explain(self, schema: Schema, name: str) -> Schema:
        purpose = FilterWords(self.item, name).get_purpose(self.field, schema)
        words = explain({}, purpose, schema.get("description", ""))
        return FieldSchema.of(schema) | words  # type: ignore[no-any-return]


PACKAGES = frozenset({"django", "django_filters"})
COMMAS = "Multiple values may be separated by commas."
UNNAMED = "[invalid name]"  # django-filter's label for a filter that is no model field
BOUND_WORDS = {
    "gt": gettext_noop("More than this"),
    "gte": gettext_noop("This or more"),
    "lt": gettext_noop("Less than this"),
    "lte": gettext_noop("This or less"),
}


class FilterWords:
    def __init__(self, item: filters.Filter | None, name: str) -> None:
        self.item = item
        self.name = name
        self.model = getattr(item, "model", None)

    def get_purpose(self, field: Any, schema: Schema) -> str:
        help_text = clean_text(field.help_text)
        if help_text == gettext(COMMAS):  # django-filter's own, and an array here
            help_text = ""
        return help_text or self.name_purpose(field.label, schema)

    def name_purpose(self, label: Any, schema: Schema) -> str:
        named = clean_text(label)
        if not says_more(named, self.name) or UNNAMED in named:
            return self.get_help_text()
        if not self.is_own(named):
            return named
        # The filter's name says the rest of what django-filter's label says.
        item, is_number = self.item, schema.get("type") in ("integer", "number")
        words = BOUND_WORDS.get(item.lookup_expr, "") if item is not None and is_number else ""
        return gettext(words)

    def is_own(self, label: str) -> bool:
        """Whether both label and name are those that django-filter gives a filter."""
        item = self.item
        if item is None or self.model is None or item.exclude:
            return False
        names = (item.field_name, f"{item.field_name}__{item.lookup_expr}")
        written = label_for_filter(self.model, item.field_name, item.lookup_expr, item.exclude)
        return label == written and self.name in names

    def get_help_text(self) -> str:
        # That of the model field: a filter has its label alone, which may be its name. Django's own
        # models speak to people who fill in a form ("Required. 150 characters or fewer.").
        if self.item is None or self.model is None or not self.item.field_name:
            return ""
        field = find_model_field(self.model, self.item.field_name)
        if field is None or field.model.__module__.partition(".")[0] in PACKAGES:
            return ""
        return clean_text(getattr(field, "help_text", ""))
