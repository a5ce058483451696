"""A call that shows what it would change, and changes nothing."""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from django.db import connections, router
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.features import BaseDatabaseFeatures
from django.db.transaction import Atomic
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework.exceptions import APIException

from drf_mcp.contrib.writes.changes import (
    BLANKS_OR_COMMENTS,
    DRY_RUN,
    NOTE,
    OTHER_STATEMENT,
    Changes,
    Statement,
    get_listings,
    is_dry_run,
)
from drf_mcp.contrib.writes.versions import IF_MATCH, CallTarget, shorten
from drf_mcp.dispatch.content import AnswerEncoder
from drf_mcp.dispatch.probe import find_written_databases, undoing
from drf_mcp.exceptions import catch, contain
from drf_mcp.features import CallState, Guard, Proceed
from drf_mcp.introspection.inspection import wrapped_queries
from drf_mcp.outcomes import Category, Failure, Outcome, Problem

logger = logging.getLogger("drf_mcp")

# A savepoint is part of the transaction.
CONTROL = re.compile(
    rf"{BLANKS_OR_COMMENTS}(?:COMMIT|END|ABORT|BEGIN|START\s+TRANSACTION|PREPARE\s+TRANSACTION"
    r"|ROLLBACK(?!\s+(?:TRANSACTION\s+|WORK\s+)?TO))\b",
    re.IGNORECASE | re.DOTALL,
)
COMMITS = gettext_noop("commits through the driver of the database")
ENDS_TRANSACTIONS = gettext_noop("ends transactions itself")
# The functions by which Django refuses what would end a transaction, and what each shows.
REFUSALS = {
    Atomic.__enter__.__code__: gettext_noop("holds a durable transaction"),
    BaseDatabaseWrapper.validate_no_atomic_block.__code__: ENDS_TRANSACTIONS,
}
KEPT = gettext_noop("What it committed has been kept: read what was changed.")
UNCOUNTED = gettext_noop(
    "Null: some rows change, which are not counted: no tool is known to show them to you."
)
# Characters of a value before and after.
MOST_SHOWN = 500


class NotUndone(APIException):
    """Raised in a view during a dry run, where it does what no rollback takes back."""

    status_code = 400
    default_code = "dry_run_unavailable"


class Rollback:
    """Undoes what a call does on the databases that models are written to.

    A write to any other database ends the dry run.

    Attributes:
        changes: what the call would have changed.
        obstacle: what the call did that no rollback takes back, "" for nothing.
        is_undone: False where the view has committed through the driver, behind Django's back.
    """

    def __init__(self) -> None:
        self.aliases: Collection[str] = find_written_databases()
        self.changes = Changes()
        self.obstacle = ""
        self.is_undone = True

    def find_obstacle(self, callback: Any) -> str:
        """Return why the writes of a callback cannot be undone, "" if they can."""
        if getattr(callback, "_non_atomic_requests", None):
            return gettext_noop("runs outside transactions (non_atomic_requests)")
        for alias in self.aliases:
            features = connections[alias].features
            # Django's own default makes a table to find out.
            default = BaseDatabaseFeatures.supports_transactions
            asked = getattr(type(features), "supports_transactions", None)
            if asked is not default and not features.supports_transactions:
                return gettext_noop("writes to a database that has no transactions")
        return ""

    def undoing(self) -> AbstractContextManager[None]:
        """Roll back on every database, whatever happens."""
        return undoing(self.aliases)

    def watch(self, call: Any, make: Callable[[], Outcome]) -> Outcome:
        """Make a call whose changes are rolled back later, and return its outcome.

        The changes are counted. A view is stopped where it does what no rollback takes back, and
        may read that its call is a trial.
        """
        before = call.is_trial, call.explain
        call.is_trial, call.explain = True, self.explain
        savepoints = {alias: connections[alias].savepoint() for alias in self.aliases}
        try:
            with self.changes.watching(), wrapped_queries(self):
                return make()
        finally:
            call.is_trial, call.explain = before
            for alias, savepoint in savepoints.items():
                self.release(connections[alias], savepoint)

    def release(self, connection: Any, savepoint: Any) -> None:
        # A savepoint that does not end shows that the driver has ended the transaction.
        is_broken, connection.needs_rollback = connection.needs_rollback, False
        if savepoint is None:
            return
        with catch() as caught:
            try:
                end = connection.savepoint_rollback if is_broken else connection.savepoint_commit
                return end(savepoint)  # type: ignore[no-any-return]
            finally:
                connection.needs_rollback = is_broken
        text = "What a view was only to try was committed by its driver"
        logger.error(text, exc_info=caught.exception)
        self.obstacle, self.is_undone = COMMITS, False

    def __call__(
        self, execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any
    ) -> Any:
        # A wrapper for Django's ``execute_wrapper``.
        connection, statement = context["connection"], Statement.read(sql)
        if statement is None:
            # Nothing is written to other databases, so their transactions may end.
            if connection.alias in self.aliases and CONTROL.match(str(sql)):
                self.stop(ENDS_TRANSACTIONS)
            return execute(sql, params, many, context)
        if connection.alias not in self.aliases:
            self.stop(gettext_noop("writes to a database that no router names for writing"))
        if OTHER_STATEMENT.match(str(sql)) and not connection.features.can_rollback_ddl:
            self.stop(gettext_noop("changes tables, which the database does not roll back"))
        if not many:
            self.changes.find_deleted_keys(statement, str(sql), params, connection)
        return self.changes.run(
            statement, lambda: execute(sql, params, many, context), context["cursor"]
        )

    def stop(self, obstacle: str) -> None:
        # The view may catch the exception and answer all the same, so the obstacle is kept.
        self.obstacle = self.obstacle or obstacle
        raise NotUndone(f"A dry run cannot go on: the view {obstacle}.")

    def explain(self, exc: Exception) -> NotUndone | None:
        """Return what an exception of the view says if the view only cannot be undone."""
        steps = (frame.f_code for frame, _ in traceback.walk_tb(exc.__traceback__))
        obstacles = (REFUSALS[code] for code in steps if code in REFUSALS)
        self.obstacle = self.obstacle or next(obstacles, "")
        return NotUndone() if self.obstacle else None

    def check_constraints(self) -> None:
        """Check what databases check when a transaction is committed; raises IntegrityError."""
        for alias in self.aliases:
            connection = connections[alias]
            if connection.features.can_defer_constraint_checks:
                connection.check_constraints(
                    [
                        model._meta.db_table
                        for model in self.changes.touched
                        if model._meta.managed and router.allow_migrate_model(alias, model)
                    ]
                )


def read_fields(call: CallState) -> Mapping[str, Any]:
    """Return the object of a call as its GET shows it to the caller, {} if it does not."""
    target = CallTarget(call)
    if target.reading_tool is None:
        return {}

    def read() -> Any:
        answer = target.read()
        return None if answer is None else AnswerEncoder().plain(answer.content.data)

    data = contain(read, lambda exc: None)
    return data if isinstance(data, Mapping) else {}


def make_plain(outcome: Outcome) -> Outcome:
    """Return an outcome with JSON values, which are written without asking a database."""
    if outcome.is_error:
        return outcome
    encoder = AnswerEncoder()

    def encode() -> Outcome:
        data, body = encoder.plain(outcome.data), encoder.plain(outcome.body)
        return outcome.changed(data=data, body=body)

    # The error of a value that JSON cannot hold is reported when the result is written.
    return contain(encode, lambda exc: outcome)


def mark_trial(outcome: Outcome, **facts: Any) -> Outcome:
    """Return the outcome of a dry run, with what the call would change in its meta."""
    return outcome.changed(is_trial=True, meta={**outcome.meta, DRY_RUN: facts})


class DryRunGuard(Guard):
    """Makes a call whose argument ``dry_run`` is true in transactions that are rolled back."""

    order = 530

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        return make_trial(call, proceed, Rollback()) if is_dry_run(call) else proceed(call)


def make_trial(call: CallState, proceed: Proceed, rollback: Rollback) -> Outcome:
    """Return the outcome of a call of which nothing is kept.

    Args:
        rollback: has the changes of the call afterwards.
    """
    # Authentication may write, such as the last use of a token, and is not rolled back.
    call.caller.authenticate()
    if obstacle := rollback.find_obstacle(call.tool.endpoint.route.callback):
        return refuse_trial(call, obstacle, _("Nothing was run."))
    # The keys of the rows that the caller may see, by model, before or after the call.
    shown: dict[Any, set[Any]] = {}
    with rollback.undoing():
        outcome = run_trial(call, proceed, rollback, shown)
    if not rollback.is_undone:
        return refuse_trial(call, rollback.obstacle, _(KEPT), note=KEPT)
    if rollback.obstacle:
        return refuse_trial(call, rollback.obstacle, _("Nothing was changed."))
    if outcome.is_error:
        return outcome
    for rows in (rollback.changes.deleted_keys, rollback.changes.updated):
        find_shown(call, rows, shown)
    counts = rollback.changes.report(shown, get_listings(call).shows_all)
    is_uncounted = any(None in rows.values() for rows in counts.values() if isinstance(rows, dict))
    note = f"{_(NOTE)} {_(UNCOUNTED)}" if is_uncounted else _(NOTE)
    return mark_trial(outcome, **{"note": note, **counts, **outcome.meta.get(DRY_RUN, {})})


def run_trial(
    call: CallState, proceed: Proceed, rollback: Rollback, shown: dict[Any, set[Any]]
) -> Outcome:
    # This runs inside the transactions. Each further read has savepoints, since a read that fails
    # would break the transactions for the call.
    requests = [call.of_item(bound) for bound in call.bound.requests]
    with undoing():
        before = [read_fields(each) for each in requests]
    outcome = rollback.watch(call, lambda: make_plain(proceed(call)))
    if rollback.obstacle or outcome.failure is not None:
        return mark_trial(outcome, note=_(NOTE))
    fail = partial(call.dispatcher.get_crash_outcome, call, call.caller.request)
    failed: Outcome | None = contain(rollback.check_constraints, fail)
    if failed is not None:
        return mark_trial(failed, note=_(NOTE))
    with undoing():
        both = [
            (was, read_fields(each) if was else {})
            for was, each in zip(before, requests, strict=True)
        ]
    for rows in (rollback.changes.created, rollback.changes.updated):
        find_shown(call, rows, shown)
    # The version that the view wrote is rolled back with it.
    meta = {name: value for name, value in outcome.meta.items() if name != IF_MATCH}
    # Values of several objects share the room that one has.
    found = [compare_fields(*each, MOST_SHOWN // len(both)) for each in both]
    facts: dict[str, Any] = {**found[0]}
    if call.bound.is_batch:
        keys = (each.bound.kwargs.get(call.tool.endpoint.key_kwarg) for each in requests)
        objects = [{"object": key, **each} for key, each in zip(keys, found, strict=True) if each]
        facts = {"objects": objects} if objects else {}
    return mark_trial(outcome.changed(meta=meta), **facts)


def compare_fields(
    before: Mapping[str, Any], after: Mapping[str, Any], most: int
) -> dict[str, dict[str, Any]]:
    """Return the fields of an object that differ, before and after, {} for none."""
    names = [name for name in before if name in after and before[name] != after[name]]
    places = {"before": before, "after": after} if names else {}
    return {
        place: {name: shorten(each[name], most) for name in names} for place, each in places.items()
    }


def find_shown(call: CallState, rows: Mapping[Any, set[Any]], shown: dict[Any, set[Any]]) -> None:
    """Add the keys of those rows to ``shown`` that the caller may see."""
    for model, keys in rows.items():
        known = shown.setdefault(model, set())
        if missing := keys - known:
            # A permission that fails must not break the transaction.
            with undoing():
                known |= get_listings(call).find_visible(model, missing)


def refuse_trial(call: CallState, obstacle: str, state: str, note: str = NOTE) -> Outcome:
    facts = {"tool": call.tool.name, "obstacle": _(obstacle)}
    # Translators: the view "ends transactions itself", for one.
    refusal = _("%(tool)s has no dry run here: its view %(obstacle)s.") % facts
    message = f"{refusal} {state}"
    advice = _("Leave the argument out to make the call itself, if that is wanted.")
    pointer = call.tool.arguments.get_control_pointer(DRY_RUN)
    problem = Problem("dry_run_unavailable", message, pointer, received=True, remediation=advice)
    failure = Failure("VALIDATION_ERROR", Category.VALIDATION, message, advice, problems=(problem,))
    return mark_trial(Outcome(call.tool.name, 400, failure=failure), note=_(note))
