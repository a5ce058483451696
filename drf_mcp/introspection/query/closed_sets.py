"""Values of which stock code makes use in a query; any other one it would ignore in silence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError

from drf_mcp.introspection.accepted import in_words
from drf_mcp.introspection.source.overrides import find_package
from drf_mcp.introspection.source.queries import QueryReading
from drf_mcp.introspection.types import ClosedSet, Parameter, Parameters, Schema

FORMS = frozenset({"django", "django_filters"})
KEY = "value"


@dataclass(frozen=True)
class OrderingTerms(ClosedSet):
    """The terms of REST framework's ordering filter.

    Attributes:
        names: what rows can be ordered by.
    """

    names: tuple[str, ...]
    separator: ClassVar[str] = ","

    @property
    def choices(self) -> tuple[str, ...]:
        """The terms, each ascending and descending, as far as the filter takes them."""
        terms = (term for name in self.names for term in (name, f"-{name}"))
        return tuple(filter(self.takes, terms))

    @property
    def words(self) -> str:
        """What is accepted."""
        return in_words({"enum": list(self.choices)}) or ""

    def takes(self, text: str) -> bool:
        """Return whether rows can be ordered by a term."""
        return text.removeprefix("-") in self.names


@dataclass(frozen=True)
class WholeNumbers(ClosedSet):
    """The numbers that REST framework's paginators read.

    Attributes:
        least: the smallest; a larger one than the largest is cut and not ignored.
    """

    least: int

    @property
    def words(self) -> str:
        """What is accepted."""
        return f"a whole number of at least {self.least}"

    def takes(self, text: str) -> bool:
        """Return whether a text is such a number."""
        try:
            return int(text) >= self.least
        except ValueError:
            return False


@dataclass(frozen=True)
class FormValues(ClosedSet):
    """The values that a form field of a filter reads.

    Attributes:
        form_field: the field, which needs no request.
        schema: what it says of its values.
        is_lenient: True if the filter is dropped where the field refuses a value.
    """

    form_field: Any = field(compare=False)
    schema: Schema
    is_lenient: bool = False

    @property
    def words(self) -> str:
        """What is accepted."""
        choices = {"enum": list(self.choices)} if self.choices else self.schema
        return in_words(choices) or "another value"

    @property
    def choices(self) -> tuple[str, ...]:
        """The texts to name."""
        if isinstance(self.form_field, forms.NullBooleanField):
            return ("true", "false")
        return tuple(str(choice) for choice in self.schema.get("enum", ()))

    def takes(self, text: str) -> bool:
        """Return whether a value comes of a text, or an error that the filter set tells."""
        widget = self.form_field.widget
        try:
            value = self.form_field.clean(widget.value_from_datadict({KEY: text}, {}, KEY))
        except ValidationError:
            return not self.is_lenient
        return value is not None


def form_values(form_field: forms.Field, schema: Schema, *, is_lenient: bool) -> ClosedSet | None:
    """Return the values of a stock form field that ignores others; None if it ignores none.

    Django's field for yes and no takes what it cannot read for no answer. Whatever needs
    rows or a request to tell is left to the view.

    Args:
        form_field: the field.
        schema: what describes a value of it.
        is_lenient: True if the filter is dropped where the field refuses a value.
    """
    if isinstance(form_field, forms.ModelChoiceField):
        return None
    if not is_lenient and not isinstance(form_field, forms.NullBooleanField):
        return None
    owners = (type(form_field), "clean"), (type(form_field), "to_python")
    widget = (type(form_field.widget), "value_from_datadict")
    if any(find_package(*member) not in FORMS for member in (*owners, widget)):
        return None
    return FormValues(form_field, schema, is_lenient)


def only_where_alone(parameters: Iterable[Parameter], reading: QueryReading) -> Parameters:
    """Return parameters, open where more than one piece of code may read them.

    Args:
        parameters: those of filters, paginators and versions; several may have one name.
        reading: what other code was seen to read of the query.
    """
    found = tuple(parameters)
    counts = Counter(parameter.name for parameter in found)
    is_open = reading.is_open or bool(reading.computed)
    return tuple(
        replace(parameter, closed=None)
        if is_open or counts[parameter.name] > 1 or parameter.name in reading.names
        else parameter
        for parameter in found
    )
