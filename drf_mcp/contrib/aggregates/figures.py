"""The columns of a list, the groups and metrics that they offer, and the figures of these.

A column is a field of the serializer that shows a column of its model as it is.
"""

from __future__ import annotations

import contextlib
import inspect
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Context, Decimal
from functools import reduce
from typing import Any, NamedTuple, cast

from django.conf import settings
from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.db.models import Avg, Count, DateField, F, Max, Min, OrderBy, QuerySet, Sum, Window
from django.db.models.functions import TruncDay, TruncMonth, TruncQuarter, TruncWeek, TruncYear
from django.utils import timezone
from rest_framework import ISO_8601, serializers
from rest_framework.fields import empty
from rest_framework.settings import api_settings

from drf_mcp.dispatch.list_probe import is_stock, is_stock_member, is_stock_row

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
TYPES = (INTEGER, FLOAT, DECIMAL, DURATION, MOMENT, DATE, BOOLEAN, IDENTIFIER, TEXT)
# Keys of objects, and choices: no amounts, whatever the column's type.
NAME = ColumnType(TEXTS, serializers.ChoiceField, ("distinct",))
# Serializer fields that leave the value to the encoder.
PLAIN = (serializers.ReadOnlyField, serializers.SlugRelatedField)
KEY = serializers.PrimaryKeyRelatedField
STOCK_FIELDS = (KEY, *PLAIN, NAME.field, *(each.field for each in TYPES))
# Any other format may leave a part of the date out.
FULL_FORMATS = (None, ISO_8601)


def _is_stored_value(model: type[models.Model], field: Any) -> bool:
    """Return whether an object of a model has the value of its column."""
    descriptor = type(inspect.getattr_static(model, field.attname, None))
    return (
        descriptor.__module__.partition(".")[0] == "django"
        and model.__getattribute__ is object.__getattribute__
        and all(is_stock_member(model, name, {"django"}) for name in ("__init__", "from_db"))
    )


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
            return self._show_decimal(Decimal(value), 0)
        # Some databases answer the sum of integers with a decimal.
        return self.show(int(value) if self.kind is INTEGER else value)

    def show_average(self, total: Any, count: int) -> Any:
        if self.kind is DECIMAL:
            return self._show_decimal(LONG.divide(Decimal(total), Decimal(count)), MORE_DIGITS)
        average = total / count
        return round(float(average), 6) if self.kind is INTEGER else self.show(average)

    def _show_decimal(self, value: Decimal, more: int) -> Any:
        places = self.model_field.decimal_places + more
        exact = value.quantize(Decimal(1).scaleb(-places), context=LONG)
        default = api_settings.COERCE_DECIMAL_TO_STRING
        return f"{exact:f}" if getattr(self.shown_by, "coerce_to_string", default) else exact


class Columns:
    """The columns of a model that the serializer of a list shows to the caller of a view."""

    def __init__(self, view: Any, model: Any) -> None:
        listing = view.get_serializer([], many=True)
        self.serializer = getattr(listing, "child", listing)
        self.model = model

    @property
    def names(self) -> list[str]:
        return list(getattr(self.serializer, "fields", ()))

    def find_shown(self, names: Iterable[str]) -> Iterator[Column]:
        for name in names:
            with contextlib.suppress(NotAColumn):
                yield self.find(name)

    def find(self, name: str) -> Column:
        writer = type(self.serializer).__name__
        if not is_stock_row(self.serializer):
            raise NotAColumn(f"{writer} has a to_representation() of its own")
        field = self.serializer.fields.get(name)
        if field is None or field.write_only:
            raise NotAColumn(f"{writer} shows no field {name!r}")
        if not _is_stock_field(field):
            raise NotAColumn(f"{name!r} is computed, or shown by a class of its own")
        path = list(field.source_attrs)
        if isinstance(field, serializers.SlugRelatedField):
            path += str(field.slug_field).split("__")
        elif len(path) > 1 and field.default is not empty:
            raise NotAColumn(f"{name!r} shows its default where there is no object")
        model, found = self.model, cast("Any", None)
        for attribute in path:
            try:
                found = model._meta.get_field(attribute)
            except FieldDoesNotExist:
                found = None
            # A relation to many objects would join a row of the list several times.
            is_column = found is not None and found.concrete and not found.many_to_many
            if not is_column or not _is_stored_value(model, found):
                raise NotAColumn(f"{name!r} shows no column of {self.model.__name__}")
            model = found.related_model
        if found is not None and found.is_relation and path[-1] == found.attname:
            found = found.target_field
        return Column(name, "__".join(path), _find_type(field, found), found, field)


def _is_stock_field(field: Any) -> bool:
    """Return whether a serializer field shows a value by REST framework's own code."""
    names = ["to_representation", "get_attribute"]
    names += [name for name in ("quantize", "enforce_timezone") if hasattr(field, name)]
    inner = getattr(field, "pk_field", None)
    # A MultipleChoiceField shows a list, whatever its column is.
    is_list = isinstance(field, serializers.MultipleChoiceField)
    is_plain = not is_list and is_stock(field, STOCK_FIELDS, *names)
    return is_plain and (inner is None or _is_stock_field(inner))


def _find_type(field: Any, column: Any) -> ColumnType:
    """Return the type of a column that a field shows unchanged; raises `NotAColumn`."""
    name = field.field_name
    if isinstance(field, KEY):
        if column is None or not column.is_relation:
            raise NotAColumn(f"{name!r} shows no column")
        return NAME
    found = next((each for each in TYPES if isinstance(column, each.columns)), None)
    if found is None or hasattr(column, "from_db_value"):
        raise NotAColumn(f"{name!r} is of a type that is neither grouped nor worked out")
    is_choice = isinstance(field, NAME.field) and found in (INTEGER, TEXT)
    if not (is_choice or isinstance(field, (found.field, *PLAIN))):
        raise NotAColumn(f"{name!r} shows its column as another type")
    default = api_settings.DATETIME_FORMAT if found is MOMENT else api_settings.DATE_FORMAT
    if found.is_date and getattr(field, "format", default) not in FULL_FORMATS:
        raise NotAColumn(f"{name!r} has a format of its own, which may leave a part out")
    return NAME if is_choice or column.primary_key else found


COUNT = "count"
# Orders of the groups: by their own values, or by the first metric; a minus sorts descending.
ORDERS = ("-metric", "metric", "group", "-group")
# Parts of the calendar by which dates are grouped, and how each is written; a week by its Monday.
DATE_PARTS: Mapping[str, tuple[Any, Callable[[date], str]]] = {
    "day": (TruncDay, date.isoformat),
    "week": (TruncWeek, date.isoformat),
    "month": (TruncMonth, lambda day: f"{day:%Y-%m}"),
    "quarter": (TruncQuarter, lambda day: f"{day:%Y}-Q{(day.month + 2) // 3}"),
    "year": (TruncYear, lambda day: f"{day:%Y}"),
}


class Piece(NamedTuple):
    """An aggregate of the database.

    Attributes:
        expression: the aggregate.
        merge: makes one value of the values of two groups, None where that is not possible.
    """

    expression: Any
    merge: Callable[[Any, Any], Any] | None


@dataclass(frozen=True)
class Grouping:
    """Groups rows by the values of a column, or by one part of its dates."""

    column: Column
    part: str = ""

    @property
    def key(self) -> str:
        return f"{self.column.name}_{self.part}" if self.part else self.column.name

    @property
    def expression(self) -> Any:
        column = self.column
        if not self.part:
            return F(column.path)
        zone = {"tzinfo": column.zone} if column.kind is MOMENT else {}
        truncate, _write = DATE_PARTS[self.part]
        return truncate(column.path, output_field=DateField(), **zone)

    def show(self, value: Any) -> Any:
        if value is None or not self.part:
            return self.column.show(value)
        return DATE_PARTS[self.part][1](value)


@dataclass(frozen=True)
class Metric:
    """The number of rows, or a figure that is worked out of one column of them."""

    function: str
    column: Column | None = None

    @property
    def key(self) -> str:
        return self.function if self.column is None else f"{self.function}_{self.column.name}"

    @property
    def pieces(self) -> Sequence[Piece]:
        if self.column is None:
            return [Piece(Count("*"), operator.add)]
        path = self.column.path
        pieces: Mapping[str, Sequence[Piece]] = {
            "sum": [Piece(Sum(path), operator.add)],
            # Databases work averages out of floats, sums of decimals exactly.
            "avg": [Piece(Sum(path), operator.add), Piece(Count(path), operator.add)],
            "min": [Piece(Min(path), min)],
            "max": [Piece(Max(path), max)],
            "distinct": [Piece(Count(path, distinct=True), None)],
        }
        return pieces[self.function]

    def show(self, values: Sequence[Any]) -> Any:
        first, column = values[0], self.column
        if column is None or self.function == "distinct":
            return first or 0
        if first is None:
            return None
        if self.function == "avg":
            return column.show_average(first, values[1])
        return column.show_sum(first) if self.function == "sum" else column.show(first)


class Terms:
    """The groupings and metrics of some columns, by their keys."""

    def __init__(self, columns: Iterable[Column]) -> None:
        columns = list(columns)
        groupings = [
            Grouping(column, part)
            for column in columns
            for part in (DATE_PARTS if column.kind.is_date else ("",))
        ]
        own = [Metric(name, column) for column in columns for name in column.kind.metrics]
        metrics = [Metric(COUNT), *own]
        self.groupings = {grouping.key: grouping for grouping in groupings}
        self.metrics = {metric.key: metric for metric in metrics}
        counts = Counter([*(each.key for each in groupings), *(each.key for each in metrics)])
        # Groupings and metrics are members of one object in the answer.
        self.duplicate_keys = [key for key, count in counts.items() if count > 1]


class Figures:
    """Groups the rows of a queryset, and works the metrics out for each group."""

    def __init__(
        self, rows: QuerySet[Any], groupings: Sequence[Grouping], metrics: Sequence[Metric]
    ) -> None:
        # The rows are selected by their keys: a filter over related objects may yield a row several
        # times, and an ordering, an annotation or a slice of the list would change the groups.
        every: QuerySet[Any] = QuerySet(rows.model, using=rows.db)
        self.rows = every.filter(pk__in=rows.values("pk"))
        # No model field has aliases like these.
        self.groupings = {f"mcp_group_{n}": grouping for n, grouping in enumerate(groupings)}
        self.metrics = [
            (metric, {f"mcp_piece_{n}_{m}": piece for m, piece in enumerate(metric.pieces)})
            for n, metric in enumerate(metrics)
        ]
        self.pieces = {a: piece for _, pieces in self.metrics for a, piece in pieces.items()}
        self.expressions = {alias: piece.expression for alias, piece in self.pieces.items()}

    def make_answer(self, order: str, limit: int) -> dict[str, Any]:
        if not self.groupings:
            return {"total": self._show_metrics(self.rows.aggregate(**self.expressions))}
        values = {alias: grouping.expression for alias, grouping in self.groupings.items()}
        groups: QuerySet[Any, Any] = self.rows.values(**values).annotate(**self.expressions)
        # A window counts all groups, whatever the limit, without a second query.
        found = list(self.sort(groups.annotate(mcp_groups=Window(Count("*"))), order)[:limit])
        count = found[0]["mcp_groups"] if found else 0
        has_more = count > len(found)
        # The number of different values in all rows does not follow from the groups.
        if has_more or any(piece.merge is None for piece in self.pieces.values()):
            total = self.rows.aggregate(**self.expressions)
        else:
            total = {}
            for alias, piece in self.pieces.items():
                known = [row[alias] for row in found if row[alias] is not None]
                total[alias] = reduce(piece.merge, known) if known and piece.merge else None
        return {
            "groups": [{**self._show_group(row), **self._show_metrics(row)} for row in found],
            "group_count": count,
            "has_more": has_more,
            "total": self._show_metrics(total),
        }

    def sort(self, groups: QuerySet[Any, Any], order: str) -> QuerySet[Any, Any]:
        def by(alias: str, descending: bool = False) -> OrderBy:
            return OrderBy(F(alias), descending=descending, nulls_last=True)

        descending = order.startswith("-")
        if not order.endswith("metric"):
            return groups.order_by(*(by(alias, descending) for alias in self.groupings))
        metric, (first, *_) = self.metrics[0]
        if metric.column is not None and metric.function == "avg":
            groups, first = groups.annotate(mcp_order=Avg(metric.column.path)), "mcp_order"
        # Groups with the same figure need an order, so that a limit always leaves out the same.
        return groups.order_by(by(first, descending), *(by(alias) for alias in self.groupings))

    def _show_group(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return {
            grouping.key: grouping.show(row[alias]) for alias, grouping in self.groupings.items()
        }

    def _show_metrics(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return {
            metric.key: metric.show([row[alias] for alias in aliases])
            for metric, aliases in self.metrics
        }
