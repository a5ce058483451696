"""The expected figures, computed from the rows that a caller reads page by page over HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.dateparse import parse_duration

PARTS = ("day", "week", "month", "quarter", "year")
METRICS = ("sum", "avg", "min", "max", "distinct")


def read_rows(http: Any, path: str, query: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return every row of a list, page by page."""
    response = http.get(path, query)
    rows = []
    while True:
        assert response.status_code == 200, response.content
        page = response.json()
        rows += page["results"]
        if not page["next"]:
            return rows
        response = http.get(page["next"])


def part_of_date(text: str | None, part: str, zone: str) -> str | None:
    """Return the day, week, month, quarter or year of a date or date-time, as a group shows it."""
    if text is None:
        return None
    day = date.fromisoformat(text) if len(text) == 10 else local_day(text, zone)
    if part == "week":
        day -= timedelta(days=day.weekday())
    names = {
        "month": f"{day.year}-{day.month:02}",
        "quarter": f"{day.year}-Q{(day.month - 1) // 3 + 1}",
        "year": f"{day.year}",
    }
    return names.get(part, day.isoformat())


def local_day(text: str, zone: str) -> date:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(ZoneInfo(zone)).date()


def group_rows(
    rows: Sequence[Mapping[str, Any]], group_by: Sequence[str], fields: Sequence[str], zone: str
) -> dict[tuple[Any, ...], list[Mapping[str, Any]]]:
    """Return the rows by the values of ``group_by``."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(value_of(row, key, fields, zone) for key in group_by), []).append(
            row
        )
    return groups


def value_of(row: Mapping[str, Any], key: str, fields: Sequence[str], zone: str) -> Any:
    if key in fields:
        return row[key]
    name, _, part = key.rpartition("_")
    return part_of_date(row[name], part, zone)


def compute_metric(
    rows: Sequence[Mapping[str, Any]], metric: str, places: Mapping[str, int]
) -> Any:
    """Return a metric of rows; ``places`` are the decimal places of decimal fields."""
    if metric == "count":
        return len(rows)
    function, _, name = metric.partition("_")
    values = [row[name] for row in rows if row[name] is not None]
    if function == "distinct":
        return len(set(values))
    if not values:
        return None
    if name in places:
        return compute_decimals([Decimal(value) for value in values], function, places[name])
    if name == "duration":
        return compute_durations([parse_duration(value) for value in values], function)
    if function == "avg":
        average = sum(values) / len(values)
        return round(average, 6) if all(isinstance(value, int) for value in values) else average
    return {"sum": sum, "min": min, "max": max}[function](values)


def compute_decimals(values: list[Decimal], function: str, places: int) -> str:
    if function == "avg":
        exact = (sum(values) / len(values)).quantize(
            Decimal(1).scaleb(-places - 2), ROUND_HALF_EVEN
        )
        return f"{exact:f}"
    return f"{ {'sum': sum, 'min': min, 'max': max}[function](values):f}"


def compute_durations(values: list[timedelta], function: str) -> timedelta:
    total = sum(values, timedelta())
    return {"sum": total, "avg": total / len(values), "min": min(values), "max": max(values)}[
        function
    ]
