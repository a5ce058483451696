"""A call that is made and rolled back, for tools whose project switched that on."""

from __future__ import annotations

import json
import logging
import re
import traceback
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

from django.apps import apps
from django.db import DatabaseError, connections, router
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.features import BaseDatabaseFeatures
from django.db.transaction import Atomic, atomic
from rest_framework.exceptions import APIException

from drf_mcp.archives import CallObject, find_written_databases, rolling_back
from drf_mcp.dispatch.content import AnswerEncoder
from drf_mcp.errors import ArgumentsRefused
from drf_mcp.exceptions import attempt
from drf_mcp.features import CallState, Guard, Proceed
from drf_mcp.interaction.exchange import TRIAL
from drf_mcp.introspection.inspection import wrapped_queries
from drf_mcp.outcomes import MISSING, Category, Failure, Outcome, Problem

logger = logging.getLogger("drf_mcp")

# The argument that asks what a call would change, which is also the member of ``meta``.
DRY_RUN = "dry_run"
NOTE = "Dry run: nothing was changed."

BLANKS_OR_COMMENTS = r"(?:\s|\(|/\*.*?\*/|--[^\n]*\n)*"
CHANGES = r"(?:INSERT|REPLACE|UPDATE|DELETE|MERGE)\b"
TABLES = r"(?:CREATE|ALTER|DROP|TRUNCATE|RENAME|COPY|CALL|DO|LOAD)\b"
# A savepoint is part of the transaction.
CONTROL = (
    r"(?:COMMIT|END|ABORT|BEGIN|START\s+TRANSACTION|PREPARE\s+TRANSACTION"
    r"|ROLLBACK(?!\s+(?:TRANSACTION\s+|WORK\s+)?TO))\b"
)
# A statement that begins with WITH may write further down.
WRITING, CHANGING_TABLES, CONTROLLING = (
    re.compile(f"{BLANKS_OR_COMMENTS}(?:{words})", re.IGNORECASE | re.DOTALL)
    for words in (rf"{CHANGES}|{TABLES}|WITH\b.*\b{CHANGES}", TABLES, CONTROL)
)
COMMITS = "ends the transaction through the driver of the database"
ENDS_TRANSACTIONS = "ends transactions itself"
# The functions by which Django refuses what would end a transaction, and what each shows.
REFUSALS = {
    Atomic.__enter__.__code__: "holds a durable transaction",
    BaseDatabaseWrapper.validate_no_atomic_block.__code__: ENDS_TRANSACTIONS,
}
KEPT = "What it wrote before may have been kept."
READ_FIRST = "Read what was changed before you call again."
LEAVE_OUT = "Leave the argument out to make the call itself, if that is wanted."
# Characters of a value before and after.
MOST_SHOWN = 500


def is_dry_run(call: CallState) -> bool:
    """Return whether the caller asks what would change."""
    asked = call.bound.controls.get(DRY_RUN, False)
    answer = {"true": True, "false": False}.get(str(asked).lower())
    if answer is None:
        pointer = call.tool.arguments.find_control_pointer(DRY_RUN)
        advice = "Send true or false. Nothing was run."
        problem = Problem(
            "invalid", "Must be true or false.", pointer, received=asked, remediation=advice
        )
        raise ArgumentsRefused([problem])
    return answer


class NotUndone(APIException):
    """Raised in a view during a dry run, where it does what no rollback takes back."""

    status_code = 400
    default_code = "dry_run_unavailable"


class Rollback:
    """Undoes what a call does on the databases that models are written to.

    A write to any other database ends the dry run.

    Attributes:
        written: the statements that wrote.
        obstacle: what the call did that no rollback takes back, "" for nothing.
    """

    def __init__(self) -> None:
        self.aliases: Collection[str] = find_written_databases()
        self.written: set[str] = set()
        self.obstacle = ""

    def find_obstacle(self, callback: Any) -> str:
        """Return why the writes of a callback cannot be undone, "" if they can."""
        if getattr(callback, "_non_atomic_requests", None):
            return "runs outside transactions (non_atomic_requests)"
        for alias in self.aliases:
            features = connections[alias].features
            # Django's own default makes a table to find out.
            default = BaseDatabaseFeatures.supports_transactions
            asked = getattr(type(features), "supports_transactions", None)
            if asked is not default and not features.supports_transactions:
                return "writes to a database that has no transactions"
        return ""

    def watch(self, call: Any, make: Callable[[], Outcome]) -> Outcome:
        """Make a call whose changes are rolled back later, and return its outcome.

        A view is stopped where it does what no rollback takes back, and may read that its call is a
        trial.
        """
        TRIAL.set(call, self)
        with ExitStack() as stack:
            # What is read after the call needs transactions that the call has not broken.
            for alias in self.aliases:
                stack.enter_context(atomic(using=alias))
            stack.enter_context(wrapped_queries(self))
            return make()

    def __call__(self, execute: Callable[..., Any], sql: Any, *args: Any) -> Any:
        # A wrapper for Django's ``execute_wrapper``.
        connection, text = args[-1]["connection"], str(sql)
        if connection.alias in self.aliases:
            if CONTROLLING.match(text):
                self.stop(ENDS_TRANSACTIONS)
            if CHANGING_TABLES.match(text) and not connection.features.can_rollback_ddl:
                self.stop("changes tables, which the database does not roll back")
        if WRITING.match(text):
            # Nothing is written to other databases, so their transactions may end.
            if connection.alias not in self.aliases:
                self.stop("writes to a database that no router names for writing")
            self.written.add(text)
        return execute(sql, *args)

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
        text = "\n".join(self.written)
        touched: set[Any] = set()
        for model in apps.get_models(include_auto_created=True):
            if model._meta.db_table in text:
                # After a deletion, foreign keys of other models may lead nowhere.
                fields = model._meta.get_fields(include_hidden=True)
                touched |= {f.related_model for f in fields if f.auto_created and not f.concrete}
                touched.add(model)
        for alias in self.aliases:
            connection = connections[alias]
            if connection.features.can_defer_constraint_checks:
                connection.check_constraints(
                    [
                        model._meta.db_table
                        for model in touched
                        # The table of a relation is managed where one of its models is.
                        if (model._meta.auto_created or model)._meta.managed
                        and router.allow_migrate_model(alias, model)
                    ]
                )


def _make_plain(outcome: Outcome) -> Outcome:
    """Return an outcome with JSON values, which are written without asking a database."""
    if outcome.is_error:
        return outcome
    encoder = AnswerEncoder()

    def encode() -> Outcome:
        failure, data = outcome.failure, encoder.plain(outcome.data)
        if failure is not None and failure.body is not MISSING:
            failure = replace(failure, body=encoder.plain(failure.body))
        return outcome.changed(data=data, failure=failure)

    # The error of a value that JSON cannot hold is reported when the result is written.
    return attempt(encode, outcome)


def _mark_trial(outcome: Outcome, note: str = NOTE, **facts: Any) -> Outcome:
    """Return the outcome of a dry run, with what the call would change in its meta."""
    meta = {**outcome.meta, DRY_RUN: {"note": note, **facts}}
    return outcome.changed(is_trial=True, meta=meta)


class DryRunGuard(Guard):
    """Makes a call whose argument ``dry_run`` is true in transactions that are rolled back."""

    order = 530

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        return _make_trial(call, proceed) if is_dry_run(call) else proceed(call)


def _make_trial(call: CallState, proceed: Proceed) -> Outcome:
    """Return the outcome of a call that leaves nothing in the databases."""
    # Authentication may write, such as the last use of a token, and is not rolled back.
    call.caller.authenticate()
    rollback = Rollback()
    if obstacle := rollback.find_obstacle(call.tool.endpoint.route.callback):
        return _refuse_trial(call, obstacle, "Nothing was run.")
    try:
        with rolling_back(rollback.aliases):
            outcome = _run_trial(call, proceed, rollback)
    except DatabaseError:
        # A savepoint that is gone shows that the driver has ended the transaction.
        logger.exception("What a view was only to try may have been committed by its driver")
        return _refuse_trial(call, COMMITS, KEPT, note=KEPT, advice=READ_FIRST)
    if rollback.obstacle:
        return _refuse_trial(call, rollback.obstacle, "Nothing was changed.")
    return outcome


def _run_trial(call: CallState, proceed: Proceed, rollback: Rollback) -> Outcome:
    # This runs inside the transactions. Each further read has savepoints, since a read that fails
    # would break the transactions for the call.
    requests = [call.of_item(bound) for bound in call.bound.requests]
    objects = [CallObject(each.caller, each.tool, each.bound) for each in requests]
    with rolling_back():
        before = [each.read_members() for each in objects]
    outcome = rollback.watch(call, lambda: _make_plain(proceed(call)))
    if rollback.obstacle or outcome.failure is not None:
        return _mark_trial(outcome)
    fail = partial(call.dispatcher.make_crash_outcome, call, call.caller.request)
    failed: Outcome | None = attempt(rollback.check_constraints, otherwise=fail)
    if failed is not None:
        return _mark_trial(failed)
    # Values of several objects share the room that one has.
    most = MOST_SHOWN // len(objects)
    with rolling_back():
        found = [
            _compare_fields(was, each.read_members() if was else {}, most)
            for was, each in zip(before, objects, strict=True)
        ]
    facts: dict[str, Any] = {**found[0]}
    if call.bound.is_batch:
        pairs = zip(objects, found, strict=True)
        changed = [{"object": each.key, **fields} for each, fields in pairs if fields]
        facts = {"objects": changed} if changed else {}
    return _mark_trial(outcome, **facts)


def _compare_fields(
    before: Mapping[str, Any], after: Mapping[str, Any], most: int
) -> dict[str, dict[str, Any]]:
    """Return the fields of an object that differ, before and after, {} for none."""
    names = [name for name in before if name in after and before[name] != after[name]]
    places = {"before": before, "after": after} if names else {}
    return {
        place: {name: shorten(each[name], most) for name in names} for place, each in places.items()
    }


def shorten(value: Any, most: int) -> Any:
    """Return a JSON value, as a text that is cut where it is longer than some characters."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{text[:most]}…" if len(text) > most else value


def _refuse_trial(
    call: CallState, obstacle: str, state: str, note: str = NOTE, advice: str = LEAVE_OUT
) -> Outcome:
    message = f"{call.tool.name} has no dry run here: its view {obstacle}. {state}"
    pointer = call.tool.arguments.find_control_pointer(DRY_RUN)
    problem = Problem("dry_run_unavailable", message, pointer, received=True, remediation=advice)
    failure = Failure("VALIDATION_ERROR", Category.VALIDATION, message, advice, problems=(problem,))
    return _mark_trial(Outcome(call.tool.name, 400, failure=failure), note)
