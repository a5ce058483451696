"""A call that shows what it would change, and changes nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, TypeAlias

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.contrib.writes.controls import DRY_RUN, NOTE, is_dry_run
from drf_mcp.contrib.writes.reading import Reading
from drf_mcp.contrib.writes.rollback import Rollback
from drf_mcp.contrib.writes.versions import IF_MATCH
from drf_mcp.dispatch.rollback import find_written_databases, undoing
from drf_mcp.exceptions import contain
from drf_mcp.features import CallState, Guard, Proceed
from drf_mcp.outcomes import Category, Failure, Outcome, Problem

KEPT = gettext_noop("What it committed has been kept: read what was changed.")
UNCOUNTED = gettext_noop(
    "Null: some rows change, which are not counted: no tool is known to show them to you."
)
# Characters of a value before and after.
MOST_SHOWN = 500
Shown: TypeAlias = dict[Any, set[Any]]
"""The keys of the rows that the caller may see, by model."""


def mark(outcome: Outcome, **facts: Any) -> Outcome:
    """Return the outcome of a call that is only tried, with what the call would change."""
    return outcome.changed(is_trial=True, meta={**outcome.meta, DRY_RUN: facts})


class DryRunGuard(Guard):
    """Makes a call whose argument ``dry_run`` is true in transactions that are rolled back."""

    order = 530

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        if not is_dry_run(call):
            return proceed(call)
        # What finding out who is calling writes is no part of the call.
        call.caller.authenticate()
        rollback = Rollback(self.get_databases(call))
        callback = call.tool.endpoint.route.callback
        if obstacle := rollback.find_obstacle(callback):
            return self.refuse(call, obstacle, _("Nothing was run."))
        shown: Shown = {}
        with rollback.undoing():
            outcome = self.rehearse(call, proceed, rollback, shown)
        if rollback.obstacle:
            if not rollback.is_undone:
                return self.refuse(call, rollback.obstacle, _(KEPT), note=KEPT)
            return self.refuse(call, rollback.obstacle, _("Nothing was changed."))
        return outcome if outcome.is_error else self.count(call, outcome, rollback, shown)

    def get_databases(self, call: CallState) -> list[str]:
        """Return the databases in which the call is made and rolled back, by their aliases.

        A write to any other ends the dry run.
        """
        return find_written_databases()

    def rehearse(
        self, call: CallState, proceed: Proceed, rollback: Rollback, shown: Shown
    ) -> Outcome:
        # Within the transactions, which still hold what the answer reads as it is written.
        before = self.read_object(call)
        reading = Reading(call)
        outcome: Outcome = rollback.watch(call, lambda: reading.settle(proceed(call)))
        if rollback.obstacle or outcome.failure is not None:
            return mark(outcome, note=_(NOTE))
        fail = partial(call.dispatcher.get_crash_outcome, call, call.caller.request)
        failed: Outcome | None = contain(rollback.check_constraints, fail)
        if failed is not None:
            return mark(failed, note=_(NOTE))
        after = self.read_object(call) if before else {}
        changes = rollback.changes
        for rows in (changes.created, changes.updated):
            self.find_shown(call, rows, shown)
        # The version that the view wrote is rolled back with it.
        meta = {name: value for name, value in outcome.meta.items() if name != IF_MATCH}
        return mark(outcome.changed(meta=meta), **self.compare(before, after))

    def count(self, call: CallState, outcome: Outcome, rollback: Rollback, shown: Shown) -> Outcome:
        """Return the outcome with the counts of the rows that the caller sees, before or after."""
        changes = rollback.changes
        for rows in (changes.deleted_keys, changes.updated):
            self.find_shown(call, rows, shown)
        listings = Reading(call).listings
        counts = changes.report(shown, listings.shows_all)
        uncounted = any(None in rows.values() for rows in counts.values() if isinstance(rows, dict))
        note = f"{_(NOTE)} {_(UNCOUNTED)}" if uncounted else _(NOTE)
        known = outcome.meta.get(DRY_RUN, {})
        return mark(outcome, **{"note": note, **counts, **known})

    def find_shown(self, call: CallState, rows: Mapping[Any, set[Any]], shown: Shown) -> None:
        listings = Reading(call).listings
        for model, keys in rows.items():
            known = shown.setdefault(model, set())
            if missing := keys - known:
                # A permission that fails may not spoil the transaction.
                with undoing(self.get_databases(call)):
                    known |= listings.find_visible(model, missing)

    def read_object(self, call: CallState) -> Mapping[str, Any]:
        """Return the object of a call as the caller sees it, {} if they may not."""
        # A read that fails may not spoil the transaction.
        with undoing(self.get_databases(call)):
            fields: Mapping[str, Any] = Reading(call).read_fields()
            return fields

    def compare(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
        """Return the members ``before`` and ``after`` with the fields that differ."""
        names = [name for name in before if name in after and before[name] != after[name]]
        if not names:
            return {}
        return {
            "before": {name: self.shorten(before[name]) for name in names},
            "after": {name: self.shorten(after[name]) for name in names},
        }

    def shorten(self, value: Any) -> Any:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return f"{text[:MOST_SHOWN]}…" if len(text) > MOST_SHOWN else value

    def refuse(self, call: CallState, obstacle: str, state: str, note: str = NOTE) -> Outcome:
        facts = {"tool": call.tool.name, "obstacle": _(obstacle)}
        # Translators: the view "ends transactions itself", for one.
        refusal = _("%(tool)s has no dry run here: its view %(obstacle)s.") % facts
        message = f"{refusal} {state}"
        advice = _("Leave the argument out to make the call itself, if that is wanted.")
        pointer = call.tool.arguments.get_control_pointer(DRY_RUN)
        problem = Problem(
            "dry_run_unavailable", message, pointer, received=True, remediation=advice
        )
        failure = Failure(
            "VALIDATION_ERROR", Category.VALIDATION, message, advice, problems=(problem,)
        )
        return mark(Outcome(call.tool.name, 400, failure=failure), note=_(note))
