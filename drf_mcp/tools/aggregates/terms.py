"""What a caller may ask of a list: the groups to make, and the figures of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeAlias

from django.db.models import Avg, Count, DateField, F, Max, Min, Sum
from django.db.models.functions import (
    TruncDay,
    TruncMonth,
    TruncQuarter,
    TruncWeek,
    TruncYear,
)

from drf_mcp.tools.aggregates.columns import MOMENT, Column

COUNT = "count"
Pieces: TypeAlias = "Sequence[Piece]"


@dataclass(frozen=True)
class Calendar:
    """One part of the calendar: how dates are cut down to it, and how it is written."""

    truncate: Any
    write: Callable[[date], str]


CALENDAR: Mapping[str, Calendar] = {
    "day": Calendar(TruncDay, date.isoformat),
    # By its Monday.
    "week": Calendar(TruncWeek, date.isoformat),
    "month": Calendar(TruncMonth, lambda day: f"{day:%Y-%m}"),
    "quarter": Calendar(TruncQuarter, lambda day: f"{day:%Y}-Q{(day.month + 2) // 3}"),
    "year": Calendar(TruncYear, lambda day: f"{day:%Y}"),
}


@dataclass(frozen=True)
class Grouping:
    """The groups that the values of a column make; dates make one for each part."""

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
        return CALENDAR[self.part].truncate(column.path, output_field=DateField(), **zone)

    def show(self, value: Any) -> Any:
        if value is None or not self.part:
            return self.column.show(value)
        return CALENDAR[self.part].write(value)


@dataclass(frozen=True)
class Piece:
    """A figure that the database works out; ``merge`` makes one of those of several groups."""

    expression: Any
    merge: Callable[[Iterable[Any]], Any] | None

    def merged(self, values: Iterable[Any]) -> Any:
        known = [value for value in values if value is not None]
        return self.merge(known) if known and self.merge else None


def add_up(values: Iterable[Any]) -> Any:
    first, *others = values
    return sum(others, first)


class Metric:
    """A figure: how many rows there are, or what is worked out of a column of them."""

    def __init__(self, function: str, column: Column | None = None) -> None:
        self.function = function
        self.column = column

    @property
    def key(self) -> str:
        return self.function if self.column is None else f"{self.function}_{self.column.name}"

    @property
    def pieces(self) -> Pieces:
        if self.column is None:
            return (Piece(Count("*"), sum),)
        path, counted = self.column.path, Piece(Count(self.column.path), sum)
        pieces: Mapping[str, Pieces] = {
            "sum": (Piece(Sum(path), add_up),),
            # Databases work averages out of floats, sums of decimals exactly.
            "avg": (Piece(Sum(path), add_up), counted),
            "min": (Piece(Min(path), min),),
            "max": (Piece(Max(path), max),),
            "distinct": (Piece(Count(path, distinct=True), None),),
        }
        return pieces[self.function]

    @property
    def sorted_by(self) -> Any:
        """What to sort groups by where the first piece does not do."""
        return Avg(self.column.path) if self.column and self.function == "avg" else None

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
    """Every grouping and every metric of some columns, by its key."""

    def __init__(self, columns: Iterable[Column]) -> None:
        columns = list(columns)
        groupings = [
            Grouping(column, part)
            for column in columns
            for part in (CALENDAR if column.kind.is_date else ("",))
        ]
        metrics = [Metric(name, column) for column in columns for name in column.kind.metrics]
        every = (Metric(COUNT), *metrics)
        self.groupings = {grouping.key: grouping for grouping in groupings}
        self.metrics = {metric.key: metric for metric in every}
        counts = Counter((*(g.key for g in groupings), *(m.key for m in every)))
        # A group shows both under their keys, side by side.
        self.shared = [key for key, count in counts.items() if count > 1]
