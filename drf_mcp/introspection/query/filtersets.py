"""Filter sets of django-filter: one query parameter, or two for a range, per filter.

Imported only for a view that uses django-filter. The form field of each filter is what
reads the query string, so that is what is described.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext
from django_filters import fields, filters
from django_filters.widgets import BaseCSVWidget

from drf_mcp.introspection.fields.choices import enumeration, labels
from drf_mcp.introspection.fields.model_fields import model_field, value_schema
from drf_mcp.introspection.inspection import GUARD, Inspection
from drf_mcp.introspection.query.closed_sets import form_values
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.source.handlers import read
from drf_mcp.introspection.source.overrides import find_package
from drf_mcp.introspection.text import explain, says_more, text
from drf_mcp.introspection.types import (
    ANY,
    PLAIN,
    Finding,
    Handling,
    LostFilters,
    Parameter,
    Parameters,
    Relation,
    Schema,
)
from drf_mcp.introspection.unsent_request import unsent_request

STRING: Schema = {"type": "string"}
NO_MODEL = "filterset_fields are fields of a model that neither queryset nor serializer tells."

COMMAS = "Multiple values may be separated by commas."
UNNAMED = "[invalid name]"  # django-filter's label for a filter that is no model field
OWN_PACKAGES = {"django", "django_filters"}

SCALARS: dict[type, Schema] = {
    forms.Field: STRING,
    forms.IntegerField: {"type": "integer"},
    forms.DecimalField: {"type": "number"},
    forms.FloatField: {"type": "number"},
    forms.NullBooleanField: {"type": "boolean"},
    forms.BooleanField: {"type": "boolean"},
    forms.DateField: {**STRING, "format": "date"},
    forms.DateTimeField: {**STRING, "format": "date-time"},
    forms.TimeField: {**STRING, "format": "time"},
    forms.DurationField: {**STRING, "format": "duration"},
    forms.UUIDField: {**STRING, "format": "uuid"},
    forms.EmailField: {**STRING, "format": "email"},
}
"""Form fields of one value; the nearest class of a field's MRO counts."""


def filterset_parameters(inspection: Inspection, backend: Any) -> Parameters:
    """Return the query parameters of the view's filter set, none without one."""
    view = inspection.view
    filterset_class = backend.get_filterset_class(view, inspection.queryset)
    if filterset_class is None:
        if inspection.queryset is None and getattr(view, "filterset_fields", None):
            inspection.findings.append(LostFilters(inspection.place, NO_MODEL, GUARD))
        return ()
    items = inspection.attempt(
        lambda: bound_filters(backend, filterset_class, inspection),
        GUARD,
        filterset_class.base_filters,
    )
    is_lenient = not getattr(backend, "raise_exception", True)
    found: list[Parameter] = []
    for name, item in items.items():
        findings: list[Finding] = []
        remedy = f"Check the filter {name!r} of {filterset_class.__qualname__}."
        step = partial(parameters, name, item, is_lenient=is_lenient)
        described = attempt(inspection.place, step, remedy, findings, None)
        described = described or related_rows(name, item)
        if described is None:
            inspection.findings += findings
        found += described or (Parameter(name, dict(STRING)),)
    return tuple(found)


def related_rows(name: str, item: filters.Filter) -> Parameters | None:
    """Describe a filter by rows that need a caller: the model field alone tells their key."""
    if not isinstance(item, filters.QuerySetRequestMixin):
        return None
    own = model_field(getattr(item, "model", None), item.field_name)
    model = getattr(own, "related_model", None)
    if model is None:
        return None
    key_name = item.extra.get("to_field_name") or "pk"
    schema = value_schema(model_field(model, key_name)) or dict(STRING)
    value = explain(schema, text(item.extra.get("help_text")))
    several = isinstance(item, filters.MultipleChoiceFilter)
    handling = Handling(relations={(ANY,) if several else (): Relation(model, key_name)})
    required = bool(item.extra.get("required"))
    if several:
        return (Parameter(name, {"type": "array", "items": value}, required, "repeat", handling),)
    return (Parameter(name, value, required, None, handling),)


def bound_filters(backend: Any, filterset_class: Any, inspection: Inspection) -> dict[str, Any]:
    """Return the filters of a filter set made as for a request, by their query keys."""
    view, queryset = inspection.view, inspection.queryset
    if find_package(type(backend), "get_filterset") in OWN_PACKAGES:
        filterset = filterset_class(**backend.get_filterset_kwargs(view.request, queryset, view))
    else:
        filterset = backend.get_filterset(view.request, queryset, view)
    prefix = f"{filterset.form_prefix}-" if filterset.form_prefix else ""
    return {
        query_key(backend, inspection, f"{prefix}{name}"): item
        for name, item in filterset.filters.items()
    }


def query_key(backend: Any, inspection: Inspection, name: str) -> str:
    """Return the key that a backend reads the value of a filter from, found by asking.

    JSON:API puts its filters under one name: ``filter[name]``.
    """
    if find_package(type(backend), "get_filterset_kwargs") in OWN_PACKAGES:
        return name
    for key in (f"filter[{name.replace('__', '.')}]", f"filter[{name}]"):
        request: Any = unsent_request(inspection.method, inspection.view.request.path)
        request._request.GET = QueryDict(mutable=True)
        request._request.GET[key] = "1"
        step = partial(backend.get_filterset_kwargs, request, inspection.queryset, inspection.view)
        unread: dict[str, Any] = {}
        read_as = attempt(inspection.place, step, "", [], unread).get("data")
        if read_as is not None and name in read_as:
            return key
    return name


def parameters(name: str, item: filters.Filter, *, is_lenient: bool = False) -> Parameters:
    """Return the query parameters that one filter reads.

    Args:
        name: the query key.
        item: the filter.
        is_lenient: True if the backend drops filters whose values it cannot read.
    """
    if isinstance(item, (filters.AllValuesFilter, filters.AllValuesMultipleFilter)):
        return (stored_values(name, item),)
    field = item.field
    if isinstance(field, forms.MultiValueField):
        return parts(name, field)
    schema, multiple = reading(item, field)
    words = introduced(schema, name, field)
    closed = None if multiple else form_values(field, schema, is_lenient=is_lenient)
    return (Parameter(name, words, field.required, multiple, related(field), closed=closed),)


def related(field: forms.Field) -> Handling:
    """Return what the value of a form field identifies, as far as it identifies anything."""
    if not isinstance(field, forms.ModelChoiceField) or field.queryset is None:
        return PLAIN
    place = (ANY,) if isinstance(field, forms.ModelMultipleChoiceField) else ()
    relation = Relation(field.queryset.model, field.to_field_name or "pk")
    return Handling(relations={place: relation})


def stored_values(name: str, item: filters.Filter) -> Parameter:
    """Describe a filter by the values in use, without asking the database for them."""
    schema = value_schema(model_field(getattr(item, "model", None), item.field_name)) or STRING
    words = explain(schema, text(item.label), "One of the values in use")
    required = bool(item.extra.get("required"))
    if isinstance(item, filters.AllValuesMultipleFilter):
        return Parameter(name, {"type": "array", "items": words}, required, "repeat")
    return Parameter(name, words, required)


def parts(name: str, field: forms.MultiValueField) -> Parameters:
    """Describe a filter of several values, each under the name its widget reads."""
    widget = field.widget
    numbered = [name.lstrip("_") for name in getattr(widget, "widgets_names", ())]
    suffixes = getattr(widget, "suffixes", numbered)
    names = [f"{name}_{suffix}" if suffix else name for suffix in suffixes]
    # One end of a range is enough, a value without its lookup is not.
    needs = f"Needs {names[-1]}" if isinstance(field, fields.LookupChoiceField) else ""
    return tuple(
        Parameter(
            own,
            explain(introduced(scalar(part), name, field), needs if own == name else ""),
            field.required,
        )
        for part, own in zip(field.fields, names, strict=False)
    )


def reading(item: filters.Filter, field: forms.Field) -> tuple[Schema, str | None]:
    """Return the schema of a form field's value, and how several are written."""
    value = scalar(field, item)
    if isinstance(field, fields.BaseRangeField):
        return {"type": "array", "items": value, "minItems": 2, "maxItems": 2}, "comma"
    if isinstance(field, fields.BaseCSVField) or isinstance(field.widget, BaseCSVWidget):
        return {"type": "array", "items": value}, "comma"
    if getattr(field.widget, "allow_multiple_selected", False):
        return {"type": "array", "items": value}, "repeat"
    return value, None


def scalar(field: forms.Field, item: filters.Filter | None = None) -> Schema:
    """Return the schema of one value of a form field."""
    if isinstance(field, forms.ModelChoiceField):
        return key(field)
    if isinstance(field, forms.ChoiceField):
        return choice(field, item)
    if any(reads_its_own_way(field, name) for name in ("to_python", "clean")):
        return dict(STRING)
    base = next(base for base in type(field).__mro__ if base in SCALARS)
    return bounded(dict(SCALARS[base]), field)


def reads_its_own_way(field: forms.Field, method: str) -> bool:
    """Return True if a form field's values may be others than those of its stock class.

    A field of several values has to read them its own way, and may read each the stock way.
    """
    if find_package(type(field), method) in OWN_PACKAGES:
        return False
    several = getattr(field.widget, "allow_multiple_selected", False)
    reading = read(type(field), method) if several else None
    return reading is None or method not in reading.calls


def bounded(schema: Schema, field: forms.Field) -> Schema:
    """Add the bounds a form field was given."""
    bounds = {
        "minimum": getattr(field, "min_value", None),
        "maximum": getattr(field, "max_value", None),
        "minLength": getattr(field, "min_length", None),
        "maxLength": getattr(field, "max_length", None),
    }
    numbers = {name: limit for name, limit in bounds.items() if isinstance(limit, (int, float))}
    return {**schema, **numbers}


def key(field: forms.ModelChoiceField[Any]) -> Schema:
    """Describe the key of a related object."""
    model = field.queryset.model if field.queryset is not None else None
    named = field.to_field_name or "pk"
    return value_schema(model_field(model, named)) or dict(STRING)


def choice(field: forms.ChoiceField, item: filters.Filter | None) -> Schema:
    """Describe one of the choices; choices computed per request are left open."""
    if item is not None and callable(item.extra.get("choices")):
        return dict(STRING)
    choices = flattened(field.choices)
    # The form compares text: a boolean choice is spelled the way Python does.
    values = [str(value) if isinstance(value, bool) else value for value in choices]
    words = "" if isinstance(item, filters.OrderingFilter) else labels(choices)
    return explain(enumeration(values), words)


def flattened(choices: Any) -> dict[Any, Any]:
    """Return choices without their groups and without the empty one."""
    flat: dict[Any, Any] = {}
    for value, label in choices:
        if isinstance(label, (list, tuple)):
            flat.update(flattened(label))
        elif value not in ("", None):
            flat[value] = label
    return flat


def introduced(schema: Schema, name: str, field: forms.Field) -> Schema:
    """Put what a filter is for before what its values are like."""
    label = text(field.label)
    help_text = text(field.help_text)
    if help_text == gettext(COMMAS):  # django-filter's own, and an array here
        help_text = ""
    named = says_more(label, name) and UNNAMED not in label
    purpose = help_text or (label if named else "")
    words = explain({}, purpose, schema.get("description", ""))
    return {**schema, **words}
