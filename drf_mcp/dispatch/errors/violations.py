"""Rules of the database that a call has broken, told without the database's own text."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

from django.db import IntegrityError
from django.db.models import Model
from django.db.models.deletion import ProtectedError, RestrictedError

from drf_mcp.introspection.text import listing, model_names
from drf_mcp.outcomes import Category, Failure

Blockers: TypeAlias = Mapping[type[Model], tuple[Any, ...]]
"""The primary keys of the rows that keep others from being deleted, by model."""


class Rule(enum.Enum):
    """What a driver's error code says was broken: the message, and what to do."""

    UNIQUE = (
        "A value that has to be unique is taken.",
        "Read which objects exist: use the one that has these values, or send other values.",
    )
    REFERENCE = (
        "A reference between objects would be broken.",
        "Check that every object that the arguments identify exists, and that nothing refers to"
        " an object that would be deleted; then decide whether to call again.",
    )


# Restrict, foreign key and unique violation (PostgreSQL, appendix A).
SQLSTATES = {"23001": Rule.REFERENCE, "23503": Rule.REFERENCE, "23505": Rule.UNIQUE}
# SQLITE_CONSTRAINT_FOREIGNKEY, _PRIMARYKEY, _UNIQUE and _ROWID.
SQLITE_CODES = {787: Rule.REFERENCE, 1555: Rule.UNIQUE, 2067: Rule.UNIQUE, 2579: Rule.UNIQUE}
# What SQLite says on Python 3.10, whose driver does not give the code.
SQLITE_TEXTS = {
    "FOREIGN KEY constraint failed": Rule.REFERENCE,
    "UNIQUE constraint failed": Rule.UNIQUE,
}
# ER_DUP_ENTRY, then rows that are referred to and references to no row.
MYSQL_CODES = {1062: Rule.UNIQUE, **dict.fromkeys((1216, 1217, 1451, 1452), Rule.REFERENCE)}
# ORA-00001, ORA-02291 and ORA-02292.
ORACLE_CODES = {1: Rule.UNIQUE, 2291: Rule.REFERENCE, 2292: Rule.REFERENCE}


def violation_failure(
    exc: BaseException, named: Callable[[Blockers], str] | None = None
) -> Failure | None:
    """Return the failure of a call that broke a rule of the database; None for any other.

    Args:
        exc: what left the view.
        named: names the rows that keep others from being deleted; by their models alone if
            None.
    """
    if isinstance(exc, (ProtectedError, RestrictedError)):
        blockers = blockers_of(exc)
        names = listing(map(model_names, blockers)) or "other objects"
        told = named(blockers) if named else ""
        return conflict(
            f"The deletion was refused: {told or names} depend on what would be deleted.",
            f"Delete the {names} first or let them refer to something else, if that is wanted;"
            " then call again.",
        )
    rule = broken_rule(exc) if isinstance(exc, IntegrityError) else None
    return None if rule is None else conflict(*rule.value)


def conflict(message: str, remediation: str) -> Failure:
    """Return a failure of the state that the database is in."""
    return Failure("CONFLICT", Category.CONFLICT, message, remediation)


def blockers_of(exc: ProtectedError | RestrictedError) -> Blockers:
    """Return the rows that an exception names, in the order of their models' labels."""
    objects = getattr(exc, "protected_objects", None) or getattr(exc, "restricted_objects", ())
    rows: dict[type[Model], list[Any]] = {}
    # A view of the project's own may raise it with anything, such as a queryset not yet run.
    for row in objects if isinstance(objects, Collection) else ():
        if isinstance(row, Model):
            rows.setdefault(type(row), []).append(row.pk)
    return {model: tuple(rows[model]) for model in sorted(rows, key=lambda m: m._meta.label)}


def broken_rule(exc: IntegrityError) -> Rule | None:
    """Return the rule that the driver's own code names; None if it names none of these."""
    cause: Any = exc.__cause__
    if cause is None:
        return None
    first: Any = cause.args[0] if cause.args else None
    if isinstance(first, int):
        return MYSQL_CODES.get(first)
    if hasattr(first, "full_code"):
        return ORACLE_CODES.get(first.code)
    sqlstate = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)
    if sqlstate is not None:
        return SQLSTATES.get(sqlstate)
    if hasattr(cause, "sqlite_errorcode"):
        return SQLITE_CODES.get(cause.sqlite_errorcode)
    if type(cause).__module__ == "sqlite3":
        return SQLITE_TEXTS.get(str(first).partition(":")[0])
    return None
