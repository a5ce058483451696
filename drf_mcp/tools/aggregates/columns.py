"""The fields of a serializer that show columns of its model as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

from django.conf import settings
from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework import ISO_8601, serializers
from rest_framework.fields import empty
from rest_framework.settings import api_settings

from drf_mcp.introspection.source.members import find_member, unwrap_member

AMOUNTS = ("sum", "avg", "min", "max")
# Sums have more digits than any of the numbers in them.
LONG = Context(prec=200)
MORE_DIGITS = 2


@dataclass(frozen=True)
class Kind:
    """Columns that are grouped and worked out alike.

    Attributes:
        columns: the model fields.
        field: the serializer field that shows them as they are.
        metrics: what can be worked out of them, in the order of the tool's schema.
        is_date: True if they are grouped by parts of the calendar.
    """

    columns: tuple[type, ...]
    field: type
    metrics: tuple[str, ...]
    is_date: bool = False


INTEGER = Kind((models.IntegerField,), serializers.IntegerField, (*AMOUNTS, "distinct"))
FLOAT = Kind((models.FloatField,), serializers.FloatField, AMOUNTS)
DECIMAL = Kind((models.DecimalField,), serializers.DecimalField, AMOUNTS)
DURATION = Kind((models.DurationField,), serializers.DurationField, AMOUNTS)
# A DateTimeField is a DateField to Django.
MOMENT = Kind((models.DateTimeField,), serializers.DateTimeField, ("min", "max"), True)
DATE = Kind((models.DateField,), serializers.DateField, ("min", "max"), True)
BOOLEAN = Kind((models.BooleanField,), serializers.BooleanField, ())
IDENTIFIER = Kind((models.UUIDField,), serializers.UUIDField, ("distinct",))
TEXTS = (models.CharField, models.TextField, models.GenericIPAddressField)
TEXT = Kind(TEXTS, serializers.CharField, ("distinct",))
KINDS = (INTEGER, FLOAT, DECIMAL, DURATION, MOMENT, DATE, BOOLEAN, IDENTIFIER, TEXT)
# Of names, not of amounts: keys of objects, and choices.
NAME = Kind(TEXTS, serializers.ChoiceField, ("distinct",))
# Serializer fields that give a value to the encoder as it is.
PLAIN = (serializers.ReadOnlyField, serializers.SlugRelatedField)
KEY = serializers.PrimaryKeyRelatedField
STOCK_FIELDS = (KEY, *PLAIN, NAME.field, *(kind.field for kind in KINDS))
# What a date is written by in full; any other format may leave a part of it out.
WHOLE = (None, ISO_8601)


class NotAColumn(Exception):
    """A field cannot be aggregated; the text says why.

    Args:
        reason: the text, marked and not yet translated: a call of the tool does without the field.
        facts: what is put into the text.
    """

    def __init__(self, reason: str, **facts: str) -> None:
        super().__init__(reason)
        self.facts = facts

    def __str__(self) -> str:
        return _(self.args[0]) % self.facts


@dataclass(frozen=True)
class Column:
    """A column of the model, as one caller sees it.

    Attributes:
        name: the serializer's name of it.
        path: the model's own, relations joined by double underscores.
        shown_by: the serializer field.
    """

    name: str
    path: str
    kind: Kind
    model_field: Any
    shown_by: Any

    @property
    def zone(self) -> Any:
        # As the serializer shows moments: the current one, unless its field has one.
        if self.kind is not MOMENT or not settings.USE_TZ:
            return None
        return getattr(self.shown_by, "timezone", None) or timezone.get_current_timezone()

    def show(self, value: Any) -> Any:
        """Return a value of the column as the serializer shows it."""
        if value is None or isinstance(self.shown_by, PLAIN):
            return value
        if isinstance(self.shown_by, KEY):
            own = self.shown_by.pk_field
            return value if own is None else own.to_representation(value)
        return self.shown_by.to_representation(value)

    def show_sum(self, value: Any) -> Any:
        if self.kind is DECIMAL:
            return self.show_decimal(value, self.model_field.decimal_places)
        # Databases sum up integers as decimals of no places.
        return self.show(int(value) if self.kind is INTEGER else value)

    def show_average(self, total: Any, count: int) -> Any:
        if self.kind is DECIMAL:
            places = self.model_field.decimal_places + MORE_DIGITS
            return self.show_decimal(LONG.divide(Decimal(total), Decimal(count)), places)
        average = total / count
        return round(float(average), 6) if self.kind is INTEGER else self.show(average)

    def show_decimal(self, value: Any, places: int) -> Any:
        exact = Decimal(value).quantize(Decimal(1).scaleb(-places), context=LONG)
        default = api_settings.COERCE_DECIMAL_TO_STRING
        return f"{exact:f}" if getattr(self.shown_by, "coerce_to_string", default) else exact


class Columns:
    """The columns that a serializer for a list shows to one caller."""

    def __init__(self, serializer: Any, model: Any) -> None:
        self.serializer = serializer
        self.model = model

    @classmethod
    def of_view(cls, view: Any, model: Any) -> Columns:
        # As for a page of the list, for the fields that this caller is shown.
        return cls(view.get_serializer([], many=True), model)

    @property
    def names(self) -> list[str]:
        child = getattr(self.serializer, "child", None)
        return list(getattr(child, "fields", ()))

    def find(self, name: str) -> Column:
        """Return the column that a field shows; raises `NotAColumn`."""
        self.check_serializers()
        child = self.serializer.child
        field = child.fields.get(name)
        if field is None or field.write_only:
            reason = gettext_noop("%(serializer)s shows no field %(name)r")
            raise NotAColumn(reason, serializer=type(child).__name__, name=name)
        # Several choices are shown as a list, whatever the column is.
        several = isinstance(field, serializers.MultipleChoiceField)
        if several or not is_stock(field, STOCK_FIELDS, "to_representation", "get_attribute"):
            reason = gettext_noop("%(name)r is computed, or shown by a class of its own")
            raise NotAColumn(reason, name=name)
        path = self.get_path(field)
        model_field = self.find_model_field(path, name)
        return Column(name, "__".join(path), find_kind(field, model_field), model_field, field)

    def check_list(self) -> None:
        """Raise `NotAColumn` where the serializer for the list may leave rows out."""
        every = self.serializer
        if not is_stock(every, serializers.ListSerializer, "to_representation", "data"):
            reason = gettext_noop("%(serializer)s writes the list in a way of its own")
            raise NotAColumn(reason, serializer=type(every).__name__)

    def check_serializers(self) -> None:
        self.check_list()
        every = self.serializer
        own = ("to_representation", "_readable_fields")
        if not is_stock(every.child, serializers.Serializer, *own):
            reason = gettext_noop("%(serializer)s has a to_representation() of its own")
            raise NotAColumn(reason, serializer=type(every.child).__name__)

    def get_path(self, field: Any) -> Sequence[str]:
        path = list(field.source_attrs)
        if isinstance(field, serializers.SlugRelatedField):
            path += str(field.slug_field).split("__")
        elif len(path) > 1 and field.default is not empty:
            reason = gettext_noop("%(name)r shows its default where there is no object")
            raise NotAColumn(reason, name=field.field_name)
        return path

    def find_model_field(self, path: Sequence[str], name: str) -> Any:
        # Only along relations to one object, each of which a row of the list has once.
        model, found = self.model, None
        for attribute in path:
            try:
                found = model._meta.get_field(attribute)
            except FieldDoesNotExist:
                found = None
            if found is None or not (found.concrete and not found.many_to_many):
                reason = gettext_noop("%(name)r shows no column of %(model)s")
                raise NotAColumn(reason, name=name, model=self.model.__name__)
            model = found.related_model
        if found is not None and found.is_relation and path[-1] == found.attname:
            return found.target_field
        return found


def is_stock(owner: Any, base: Any, *names: str) -> bool:
    # Whether an object does as REST framework's own classes do, by the globals of the code: a
    # class that is made at run time has the __module__ of its metaclass.
    def has(name: str) -> bool:
        member = unwrap_member(find_member(type(owner), name)[0])
        module = getattr(member, "__globals__", {}).get("__name__", "")
        return name not in vars(owner) and module.partition(".")[0] == "rest_framework"

    return isinstance(owner, base) and all(map(has, names))


def find_kind(field: Any, column: Any) -> Kind:
    # What it shows has to be the column, whole.
    name = field.field_name
    if isinstance(field, KEY):
        if column is None or not column.is_relation:
            raise NotAColumn(gettext_noop("%(name)r shows no column"), name=name)
        return NAME
    kind = next((kind for kind in KINDS if isinstance(column, kind.columns)), None)
    if kind is None or hasattr(column, "from_db_value"):
        reason = gettext_noop("%(name)r is of a type that is neither grouped nor worked out")
        raise NotAColumn(reason, name=name)
    is_choice = isinstance(field, NAME.field) and kind in (INTEGER, TEXT)
    if not (is_choice or isinstance(field, (kind.field, *PLAIN))):
        raise NotAColumn(gettext_noop("%(name)r shows its column as another type"), name=name)
    if kind.is_date and getattr(field, "format", get_default_format(kind)) not in WHOLE:
        reason = gettext_noop(
            "%(name)r has a format of its own, which may leave a part of the date out"
        )
        raise NotAColumn(reason, name=name)
    return NAME if is_choice or column.primary_key else kind


def get_default_format(kind: Kind) -> Any:
    return api_settings.DATETIME_FORMAT if kind is MOMENT else api_settings.DATE_FORMAT
