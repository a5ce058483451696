"""The groups and metrics that columns offer, and the figures that a database works out of them."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import reduce
from typing import Any, NamedTuple

from django.db.models import Avg, Count, DateField, F, Max, Min, OrderBy, QuerySet, Sum, Window
from django.db.models.functions import TruncDay, TruncMonth, TruncQuarter, TruncWeek, TruncYear

from drf_mcp.contrib.aggregates.columns import MOMENT, Column

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

    def get_answer(self, order: str, limit: int) -> dict[str, Any]:
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
