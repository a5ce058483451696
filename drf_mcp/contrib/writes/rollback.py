"""A stretch of a call of which no database keeps anything."""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import Any

from django.db import connections, router, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.features import BaseDatabaseFeatures
from django.db.transaction import Atomic
from django.utils.translation import gettext_noop
from rest_framework.exceptions import APIException

from drf_mcp.contrib.writes.changes import LEAD, OTHER, Changes, Statement
from drf_mcp.dispatch.rollback import undoing
from drf_mcp.exceptions import contain
from drf_mcp.outcomes import Outcome

logger = logging.getLogger("drf_mcp")

# A savepoint is part of the transaction.
CONTROL = re.compile(
    rf"{LEAD}(?:COMMIT|END|ABORT|BEGIN|START\s+TRANSACTION|PREPARE\s+TRANSACTION"
    r"|ROLLBACK(?!\s+(?:TRANSACTION\s+|WORK\s+)?TO))\b",
    re.IGNORECASE | re.DOTALL,
)
COMMITS = gettext_noop("commits through the driver of the database")
ENDS_TRANSACTIONS = gettext_noop("ends transactions itself")
# Where Django refuses what would end a transaction, by its code.
REFUSALS = {
    Atomic.__enter__.__code__: gettext_noop("holds a durable transaction"),
    BaseDatabaseWrapper.validate_no_atomic_block.__code__: ENDS_TRANSACTIONS,
}


class NotUndone(APIException):
    """Raised in a view that is only tried, where it does what a rollback does not take back."""

    status_code = 400
    default_code = "dry_run_unavailable"


class Rollback:
    """Undoes what a call does on the databases that models are written to.

    Attributes:
        changes: what the call would have changed.
        obstacle: what the call did that no rollback takes back, "" for nothing.
        is_undone: False where the view has committed through the driver, behind Django's back.
    """

    def __init__(self, aliases: Collection[str]) -> None:
        self.aliases = aliases
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

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Count changes, and stop what a rollback would not take back."""
        with self.changes.watching(), ExitStack() as stack:
            for connection in connections.all():
                stack.enter_context(connection.execute_wrapper(self))
            yield

    def watch(self, call: Any, make: Callable[[], Outcome]) -> Outcome:
        """Return the outcome of a call that is only tried, whose view may know it."""
        before = call.is_trial, call.explain
        call.is_trial, call.explain = True, self.explain
        savepoints = {alias: transaction.savepoint(using=alias) for alias in self.aliases}
        try:
            with self.watching():
                return make()
        finally:
            call.is_trial, call.explain = before
            for alias, savepoint in savepoints.items():
                contain(partial(self.release, connections[alias], savepoint), self.find_kept)

    def release(self, connection: Any, savepoint: Any) -> None:
        # A savepoint ends with its transaction, whoever ended that.
        is_broken, connection.needs_rollback = connection.needs_rollback, False
        if savepoint is None:
            return
        try:
            (connection.savepoint_rollback if is_broken else connection.savepoint_commit)(savepoint)
        finally:
            connection.needs_rollback = is_broken

    def find_kept(self, exc: Exception) -> None:
        logger.error("What a view was only to try was committed by its driver", exc_info=exc)
        self.obstacle, self.is_undone = COMMITS, False

    def __call__(
        self, execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any
    ) -> Any:
        # A wrapper for Django's ``execute_wrapper``.
        connection, statement = context["connection"], Statement.read(sql)
        if statement is None:
            # Nothing can be written to other databases, so their transactions hold nothing.
            if connection.alias in self.aliases and CONTROL.match(str(sql)):
                self.stop(ENDS_TRANSACTIONS)
            return execute(sql, params, many, context)
        if connection.alias not in self.aliases:
            self.stop(gettext_noop("writes to a database that no router names for writing"))
        if OTHER.match(str(sql)) and not connection.features.can_rollback_ddl:
            self.stop(gettext_noop("changes tables, which the database does not roll back"))
        if not many:
            self.changes.find_deleted_keys(statement, str(sql), params, connection)
        return self.changes.run(
            statement, lambda: execute(sql, params, many, context), context["cursor"]
        )

    def stop(self, obstacle: str) -> None:
        # The view may catch the exception, and answer; rolling back is stopped as well.
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
