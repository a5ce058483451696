"""The fields that a project declared, seen without a caller: what the tool's schema can name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.introspection.inspection import GUARD, Inspection
from drf_mcp.introspection.safe_call import Finding
from drf_mcp.spelling import find_nearest
from drf_mcp.tools.aggregates.columns import Column, Columns, NotAColumn
from drf_mcp.tools.aggregates.listing import find_fault
from drf_mcp.tools.aggregates.terms import Terms

REMEDY = gettext_noop("Correct aggregate=, or the serializer. See docs/aggregates.md.")


class Declaration:
    """What a project declared of a list.

    Args:
        inspection: the inspected view of the aggregate, or of the list.
        names: the serializer's names of the fields.
    """

    def __init__(self, inspection: Inspection, names: Sequence[str]) -> None:
        self.inspection = inspection
        self.names = names

    @cached_property
    def views(self) -> list[Columns]:
        # A serializer may show fields to some callers alone, and be made for a caller alone.
        inspection = self.inspection
        steps = (
            lambda: Columns.of_view(inspection.view, inspection.model),
            lambda: Columns.of_view(inspection.privileged.view, inspection.model),
        )
        found = [inspection.asked_quietly(step) for step in steps]
        return [columns for columns in found if columns is not None]

    @cached_property
    def terms(self) -> Terms:
        return Terms(self.columns)

    @cached_property
    def columns(self) -> list[Column]:
        found = (self.find_column(name) for name in self.names)
        return [column for column in found if isinstance(column, Column)]

    @property
    def is_known(self) -> bool:
        # Otherwise no schema can enumerate what there is to ask for.
        return self.inspection.model is not None and bool(self.views)

    @property
    def findings(self) -> list[Finding]:
        place = self.inspection.place
        if not self.is_known:
            unknown = _("The model and serializer of the list are not known without a caller.")
            return [Finding(place, unknown, _(GUARD))]
        return [Finding(place, f"{fault}.", _(REMEDY)) for fault in self.find_faults()]

    def find_faults(self) -> Iterator[str]:
        """Yield what is wrong with the declaration, as sentences without their full stops."""
        for name in self.names if self.is_known else ():
            column = self.find_column(name)
            if isinstance(column, str):
                yield self.describe_fault(name, column)
        shared = _("aggregate= makes two things of the name %(name)r: take one of the fields away")
        yield from (shared % {"name": key} for key in self.terms.shared)
        steps = (
            lambda: self.inspection.view.get_queryset(),
            lambda: self.inspection.privileged.view.get_queryset(),
        )
        rows = map(self.inspection.asked_quietly, steps)
        for fault in dict.fromkeys(find_fault(found) for found in rows if found is not None):
            if fault:
                yield fault.rstrip(".")

    def find_column(self, name: str) -> Column | str:
        reason = ""
        for columns in self.views:
            try:
                return columns.find(name)
            except NotAColumn as exc:
                reason = reason or str(exc)
        return reason

    def describe_fault(self, name: str, reason: str) -> str:
        known = dict.fromkeys(known for columns in self.views for known in columns.names)
        nearest = [] if name in known else find_nearest(name, known)
        # Translators: the reason is one such as "OrderSerializer shows no field 'totl'".
        text = _("aggregate= names %(name)r, but %(reason)s")
        if nearest:
            text = _("aggregate= names %(name)r, but %(reason)s; did you mean %(nearest)r?")
        return text % {"name": name, "reason": reason, "nearest": next(iter(nearest), "")}
