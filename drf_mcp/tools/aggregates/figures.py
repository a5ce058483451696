"""The figures of a queryset's rows: one query for the groups, one more where the total needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from django.db.models import Count, F, OrderBy, QuerySet, Window

from drf_mcp.tools.aggregates.terms import Grouping, Metric

# Orders of the groups: by their own values, or by the first metric; a minus sorts descending.
ORDERS = ("-metric", "metric", "group", "-group")


class Figures:
    """Groups the rows of a queryset, and works the metrics out for each group."""

    def __init__(
        self, rows: QuerySet[Any], groupings: Sequence[Grouping], metrics: Sequence[Metric]
    ) -> None:
        # By their keys: a filter over many related objects joins a row to each of them, and an
        # ordering, an annotation or a slice of the list must not touch the groups.
        every: QuerySet[Any] = QuerySet(rows.model, using=rows.db)
        self.rows = every.filter(pk__in=rows.values("pk"))
        self.groupings = {f"mcp_group_{n}": grouping for n, grouping in enumerate(groupings)}
        # Each with its pieces by their aliases; no model field has names like these.
        self.metrics = [
            (metric, {f"mcp_piece_{n}_{m}": piece for m, piece in enumerate(metric.pieces)})
            for n, metric in enumerate(metrics)
        ]
        self.pieces = {a: piece for _, pieces in self.metrics for a, piece in pieces.items()}

    @property
    def expressions(self) -> Mapping[str, Any]:
        return {alias: piece.expression for alias, piece in self.pieces.items()}

    @cached_property
    def groups(self) -> QuerySet[Any, Any]:
        values = {alias: grouping.expression for alias, grouping in self.groupings.items()}
        # A window is over groups, before the limit: it counts them without making them again.
        groups: QuerySet[Any, Any] = (
            self.rows.values(**values)
            .annotate(**self.expressions)
            .annotate(mcp_groups=Window(Count("*")))
        )
        return groups

    def get_answer(self, order: str, limit: int) -> dict[str, Any]:
        if not self.groupings:
            return {"total": self.show_metrics(self.rows.aggregate(**self.expressions))}
        found = list(self.sort_groups(order)[:limit])
        count = found[0]["mcp_groups"] if found else 0
        has_more = count > len(found)
        return {
            "groups": [{**self.show_group(row), **self.show_metrics(row)} for row in found],
            "group_count": count,
            "has_more": has_more,
            "total": self.show_metrics(self.get_total(found, whole=not has_more)),
        }

    def sort_groups(self, order: str) -> QuerySet[Any, Any]:
        groups, descending = self.groups, order.startswith("-")
        if not order.endswith("metric"):
            return groups.order_by(*(sort(alias, descending) for alias in self.groupings))
        metric, (first, *_) = self.metrics[0]
        if metric.sorted_by is not None:
            groups, first = groups.annotate(mcp_order=metric.sorted_by), "mcp_order"
        # Groups of one figure come in an order as well, so that a limit cuts in the same place.
        return groups.order_by(sort(first, descending), *(sort(a) for a in self.groupings))

    def get_total(self, found: Sequence[Mapping[str, Any]], *, whole: bool) -> Mapping[str, Any]:
        # How many values there are in all does not follow from how many each group has.
        if not whole or any(piece.merge is None for piece in self.pieces.values()):
            return self.rows.aggregate(**self.expressions)
        return {
            alias: piece.merged(row[alias] for row in found) for alias, piece in self.pieces.items()
        }

    def show_group(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return {
            grouping.key: grouping.show(row[alias]) for alias, grouping in self.groupings.items()
        }

    def show_metrics(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return {
            metric.key: metric.show([row[alias] for alias in aliases])
            for metric, aliases in self.metrics
        }


def sort(alias: str, descending: bool = False) -> OrderBy:
    return OrderBy(F(alias), descending=descending, nulls_last=True)
