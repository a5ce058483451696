"""The fields of a serializer that show columns of its model as they are."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

from django.conf import settings
from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework import ISO_8601, serializers
from rest_framework.fields import empty
from rest_framework.settings import api_settings

from drf_mcp.dispatch.shown_rows import is_stock, shows_every_row

AMOUNTS = ("sum", "avg", "min", "max")
# Sums have more digits than any of the numbers in them.
LONG = Context(prec=200)
MORE_DIGITS = 2


@dataclass(frozen=True)
class ColumnType:
    """A type of columns.

    Attributes:
        columns: the model fields of the type.
        field: the serializer field that shows a value of the type unchanged.
        metrics: the metrics of such a column, in the order of the tool's schema.
        is_date: True if parts of the calendar group such a column.
    """

    columns: tuple[type, ...]
    field: type
    metrics: tuple[str, ...]
    is_date: bool = False


INTEGER = ColumnType((models.IntegerField,), serializers.IntegerField, (*AMOUNTS, "distinct"))
FLOAT = ColumnType((models.FloatField,), serializers.FloatField, AMOUNTS)
DECIMAL = ColumnType((models.DecimalField,), serializers.DecimalField, AMOUNTS)
DURATION = ColumnType((models.DurationField,), serializers.DurationField, AMOUNTS)
# A DateTimeField is a DateField to Django.
MOMENT = ColumnType((models.DateTimeField,), serializers.DateTimeField, ("min", "max"), True)
DATE = ColumnType((models.DateField,), serializers.DateField, ("min", "max"), True)
BOOLEAN = ColumnType((models.BooleanField,), serializers.BooleanField, ())
IDENTIFIER = ColumnType((models.UUIDField,), serializers.UUIDField, ("distinct",))
TEXTS = (models.CharField, models.TextField, models.GenericIPAddressField)
TEXT = ColumnType(TEXTS, serializers.CharField, ("distinct",))
KINDS = (INTEGER, FLOAT, DECIMAL, DURATION, MOMENT, DATE, BOOLEAN, IDENTIFIER, TEXT)
# Keys of objects, and choices: no amounts, whatever the column's type.
NAME = ColumnType(TEXTS, serializers.ChoiceField, ("distinct",))
# Serializer fields that leave the value to the encoder.
PLAIN = (serializers.ReadOnlyField, serializers.SlugRelatedField)
KEY = serializers.PrimaryKeyRelatedField
STOCK_FIELDS = (KEY, *PLAIN, NAME.field, *(kind.field for kind in KINDS))
# Any other format may leave a part of the date out.
FULL_FORMATS = (None, ISO_8601)


class NotAColumn(Exception):
    """A field cannot be aggregated; the text says why."""


@dataclass(frozen=True)
class Column:
    """A column of the model, as the serializer shows it to one caller.

    Attributes:
        name: the name of the serializer field.
        path: the lookup of the column, relations joined by double underscores.
        shown_by: the serializer field.
    """

    name: str
    path: str
    kind: ColumnType
    model_field: Any
    shown_by: Any

    @property
    def is_category(self) -> bool:
        """Whether many rows have the same value by design: a choice, a key, a flag, a date."""
        if isinstance(self.shown_by, (KEY, NAME.field, serializers.SlugRelatedField)):
            return True
        # The name of another object, and not a text about it.
        is_name = "__" in self.path and isinstance(self.model_field, models.CharField)
        return is_name or self.kind.is_date or self.kind is BOOLEAN

    @property
    def zone(self) -> Any:
        # The serializer shows moments in the current zone, unless its field has one.
        if self.kind is not MOMENT or not settings.USE_TZ:
            return None
        return getattr(self.shown_by, "timezone", None) or timezone.get_current_timezone()

    def show(self, value: Any) -> Any:
        if value is None or isinstance(self.shown_by, PLAIN):
            return value
        if isinstance(self.shown_by, KEY):
            own: Any = self.shown_by.pk_field
            return value if own is None else own.to_representation(value)
        return self.shown_by.to_representation(value)

    def show_sum(self, value: Any) -> Any:
        if self.kind is DECIMAL:
            return self.show_decimal(Decimal(value), 0)
        # Some databases answer the sum of integers with a decimal.
        return self.show(int(value) if self.kind is INTEGER else value)

    def show_average(self, total: Any, count: int) -> Any:
        if self.kind is DECIMAL:
            return self.show_decimal(LONG.divide(Decimal(total), Decimal(count)), MORE_DIGITS)
        average = total / count
        return round(float(average), 6) if self.kind is INTEGER else self.show(average)

    def show_decimal(self, value: Decimal, more: int) -> Any:
        places = self.model_field.decimal_places + more
        exact = value.quantize(Decimal(1).scaleb(-places), context=LONG)
        default = api_settings.COERCE_DECIMAL_TO_STRING
        return f"{exact:f}" if getattr(self.shown_by, "coerce_to_string", default) else exact


class Columns:
    """The columns of a model that the serializer of a list shows to the caller of a view."""

    def __init__(self, view: Any, model: Any) -> None:
        self.serializer = view.get_serializer([], many=True)
        self.model = model

    @property
    def names(self) -> list[str]:
        child = getattr(self.serializer, "child", None)
        return list(getattr(child, "fields", ()))

    def find_shown(self, names: Iterable[str]) -> Iterator[Column]:
        for name in names:
            with contextlib.suppress(NotAColumn):
                yield self.find(name)

    def check_list(self) -> None:
        """Raise `NotAColumn` where the serializer of the list may leave rows out."""
        if not shows_every_row(self.serializer):
            text = _("%(serializer)s writes the list in a way of its own")
            raise NotAColumn(text % {"serializer": type(self.serializer).__name__})

    def find(self, name: str) -> Column:
        self.check_list()
        child = self.serializer.child
        facts = {"serializer": type(child).__name__, "name": name, "model": self.model.__name__}
        if not is_stock(child, serializers.Serializer, "to_representation", "_readable_fields"):
            raise NotAColumn(_("%(serializer)s has a to_representation() of its own") % facts)
        field = child.fields.get(name)
        if field is None or field.write_only:
            raise NotAColumn(_("%(serializer)s shows no field %(name)r") % facts)
        # A MultipleChoiceField shows a list, whatever its column is.
        is_own = not is_stock(field, STOCK_FIELDS, "to_representation", "get_attribute")
        if is_own or isinstance(field, serializers.MultipleChoiceField):
            raise NotAColumn(_("%(name)r is computed, or shown by a class of its own") % facts)
        path = list(field.source_attrs)
        if isinstance(field, serializers.SlugRelatedField):
            path += str(field.slug_field).split("__")
        elif len(path) > 1 and field.default is not empty:
            raise NotAColumn(_("%(name)r shows its default where there is no object") % facts)
        model, found = self.model, None
        for attribute in path:
            try:
                found = model._meta.get_field(attribute)
            except FieldDoesNotExist:
                found = None
            # A relation to many objects would join a row of the list several times.
            if found is None or not (found.concrete and not found.many_to_many):
                raise NotAColumn(_("%(name)r shows no column of %(model)s") % facts)
            model = found.related_model
        if found is not None and found.is_relation and path[-1] == found.attname:
            found = found.target_field
        return Column(name, "__".join(path), find_kind(field, found), found, field)


def find_kind(field: Any, column: Any) -> ColumnType:
    """Return the type of a column that a field shows unchanged; raises `NotAColumn`."""
    facts = {"name": field.field_name}
    if isinstance(field, KEY):
        if column is None or not column.is_relation:
            raise NotAColumn(_("%(name)r shows no column") % facts)
        return NAME
    kind = next((kind for kind in KINDS if isinstance(column, kind.columns)), None)
    if kind is None or hasattr(column, "from_db_value"):
        raise NotAColumn(_("%(name)r is of a type that is neither grouped nor worked out") % facts)
    is_choice = isinstance(field, NAME.field) and kind in (INTEGER, TEXT)
    if not (is_choice or isinstance(field, (kind.field, *PLAIN))):
        raise NotAColumn(_("%(name)r shows its column as another type") % facts)
    default = api_settings.DATETIME_FORMAT if kind is MOMENT else api_settings.DATE_FORMAT
    if kind.is_date and getattr(field, "format", default) not in FULL_FORMATS:
        text = _("%(name)r has a format of its own, which may leave a part of the date out")
        raise NotAColumn(text % facts)
    return NAME if is_choice or column.primary_key else kind
