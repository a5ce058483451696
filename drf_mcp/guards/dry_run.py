"""A call that shows what it would change, and changes nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, TypeAlias

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.exceptions import contain
from drf_mcp.guards.base import Guard, PendingCall, Proceed
from drf_mcp.guards.rollback import Rollback
from drf_mcp.outcomes import Category, Failure, Outcome, Problem
from drf_mcp.tools.controls import DRY_RUN
from drf_mcp.tools.preconditions import IF_MATCH

NOTE = gettext_noop("Dry run: nothing was changed.")
KEPT = gettext_noop("What it committed has been kept: read what was changed.")
UNCOUNTED = gettext_noop(
    "Null: some rows change, which are not counted: no tool is known to show them to you."
)
# Characters of a value before and after.
MOST_SHOWN = 500
Shown: TypeAlias = dict[Any, set[Any]]
"""The keys of the rows that the caller may see, by model."""


class DryRunGuard(Guard):
    """Makes a call whose argument ``dry_run`` is true in transactions that are rolled back."""

    name = DRY_RUN

    def __call__(self, pending: PendingCall, proceed: Proceed) -> Outcome:
        if not pending.is_dry_run:
            return proceed(pending)
        # What finding out who is calling writes is no part of the call.
        pending.caller.authenticate()
        rollback = Rollback(self.get_databases(pending))
        callback = pending.tool.endpoint.route.callback
        if obstacle := rollback.find_obstacle(callback):
            return self.refuse(pending, obstacle, _("Nothing was run."))
        shown: Shown = {}
        with rollback.undoing():
            outcome = self.rehearse(pending, proceed, rollback, shown)
        if rollback.obstacle:
            if not rollback.is_undone:
                return self.refuse(pending, rollback.obstacle, _(KEPT), note=KEPT)
            return self.refuse(pending, rollback.obstacle, _("Nothing was changed."))
        return outcome if outcome.is_error else self.count(pending, outcome, rollback, shown)

    def get_databases(self, pending: PendingCall) -> list[str]:
        """Return the databases in which the call is made and rolled back, by their aliases.

        A write to any other ends the dry run.
        """
        return Rollback.find_aliases()

    def rehearse(
        self, pending: PendingCall, proceed: Proceed, rollback: Rollback, shown: Shown
    ) -> Outcome:
        # Within the transactions, which still hold what the answer reads as it is written.
        before, caller = self.read_object(pending), pending.caller
        reading = pending.dispatcher.get_reading(pending)
        outcome: Outcome = rollback.watch(caller, lambda: reading.settle(proceed(pending)))
        if rollback.obstacle or outcome.failure is not None:
            return outcome.changed(dry_run={"note": _(NOTE)})
        fail = partial(pending.dispatcher.get_crash_outcome, pending.tool, caller.request)
        failed: Outcome | None = contain(
            rollback.check_constraints, lambda exc: fail(exc, pending.request_id)
        )
        if failed is not None:
            return failed.changed(dry_run={"note": _(NOTE)})
        after = self.read_object(pending) if before else {}
        changes = rollback.changes
        for rows in (changes.created, changes.updated):
            self.find_shown(pending, rows, shown)
        # The version that the view wrote is rolled back with it.
        meta = {name: value for name, value in outcome.meta.items() if name != IF_MATCH}
        return outcome.changed(dry_run=self.compare(before, after), meta=meta)

    def count(
        self, pending: PendingCall, outcome: Outcome, rollback: Rollback, shown: Shown
    ) -> Outcome:
        """Return the outcome with the counts of the rows that the caller sees, before or after."""
        changes = rollback.changes
        for rows in (changes.deleted_keys, changes.updated):
            self.find_shown(pending, rows, shown)
        listings = pending.dispatcher.get_reading(pending).listings
        counts = changes.report(shown, listings.shows_all)
        uncounted = any(None in rows.values() for rows in counts.values() if isinstance(rows, dict))
        note = f"{_(NOTE)} {_(UNCOUNTED)}" if uncounted else _(NOTE)
        return outcome.changed(dry_run={"note": note, **counts, **(outcome.dry_run or {})})

    def find_shown(self, pending: PendingCall, rows: Mapping[Any, set[Any]], shown: Shown) -> None:
        listings = pending.dispatcher.get_reading(pending).listings
        for model, keys in rows.items():
            known = shown.setdefault(model, set())
            if missing := keys - known:
                # A permission that fails may not spoil the transaction.
                with Rollback(self.get_databases(pending)).undoing():
                    known |= listings.find_visible(model, missing)

    def read_object(self, pending: PendingCall) -> Mapping[str, Any]:
        """Return the object of a call as the caller sees it, {} if they may not."""
        # A read that fails may not spoil the transaction.
        with Rollback(self.get_databases(pending)).undoing():
            fields: Mapping[str, Any] = pending.dispatcher.get_reading(pending).read_fields()
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

    def refuse(self, pending: PendingCall, obstacle: str, state: str, note: str = NOTE) -> Outcome:
        facts = {"tool": pending.tool.name, "obstacle": _(obstacle)}
        # Translators: the view "ends transactions itself", for one.
        refusal = _("%(tool)s has no dry run here: its view %(obstacle)s.") % facts
        message = f"{refusal} {state}"
        advice = _("Leave the argument out to make the call itself, if that is wanted.")
        pointer = pending.tool.arguments.get_control_pointer(DRY_RUN)
        problem = Problem(
            "dry_run_unavailable", message, pointer, received=True, remediation=advice
        )
        failure = Failure(
            "VALIDATION_ERROR", Category.VALIDATION, message, advice, problems=(problem,)
        )
        return Outcome(pending.tool.name, 400, failure=failure, dry_run={"note": _(note)})
