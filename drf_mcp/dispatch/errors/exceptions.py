"""Exceptions that leave a view: their HTTP status, and the rule of the database they tell of."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.db import IntegrityError
from django.db.models import Model
from django.db.models.deletion import ProtectedError, RestrictedError
from django.http import Http404
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.introspection.text import get_plural_name, join_values
from drf_mcp.outcomes import Category, Failure

# The status that Django itself answers with when an exception of this type leaves a view.
EXCEPTION_STATUSES: dict[type[BaseException], int] = {
    Http404: 404,
    PermissionDenied: 403,
    MultiPartParserError: 400,
    BadRequest: 400,
    SuspiciousOperation: 400,
}


class Blockers(dict[type[Model], tuple[Any, ...]]):
    """The primary keys of the rows that keep others from being deleted, by model."""

    @classmethod
    def from_exception(cls, exc: ProtectedError | RestrictedError) -> Blockers:
        objects = getattr(exc, "protected_objects", None) or getattr(exc, "restricted_objects", ())
        rows: dict[type[Model], list[Any]] = {}
        # A view of the project's own may raise it with anything, such as a queryset not yet run.
        for row in objects if isinstance(objects, Collection) else ():
            if isinstance(row, Model):
                rows.setdefault(type(row), []).append(row.pk)
        models = sorted(rows, key=lambda model: model._meta.label)
        return cls({model: tuple(rows[model]) for model in models})

    @property
    def names(self) -> str:
        return join_values(map(get_plural_name, self))


class DatabaseRule(enum.Enum):
    """What a driver's error code says was broken: the message, and what to do, in English."""

    UNIQUE = (
        gettext_noop("A value that has to be unique is taken."),
        gettext_noop(
            "Read which objects exist: use the one that has these values, or send other values."
        ),
    )
    REFERENCE = (
        gettext_noop("A reference between objects would be broken."),
        gettext_noop(
            "Check that every object that the arguments identify exists, and that nothing refers to"
            " an object that would be deleted; then decide whether to call again."
        ),
    )

    @classmethod
    def from_exception(cls, exc: IntegrityError) -> DatabaseRule | None:
        cause: Any = exc.__cause__
        if cause is None:
            return None
        code: Any = cause.args[0] if cause.args else None
        if isinstance(code, int):
            return MYSQL_CODES.get(code)
        if hasattr(code, "full_code"):
            return ORACLE_CODES.get(code.code)
        sqlstate = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)
        if sqlstate is not None:
            return SQLSTATES.get(sqlstate)
        if hasattr(cause, "sqlite_errorcode"):
            return SQLITE_CODES.get(cause.sqlite_errorcode)
        if type(cause).__module__ == "sqlite3":
            return SQLITE_TEXTS.get(str(code).partition(":")[0])
        return None


# Restrict, foreign key and unique violation (PostgreSQL, appendix A).
SQLSTATES = {
    "23001": DatabaseRule.REFERENCE,
    "23503": DatabaseRule.REFERENCE,
    "23505": DatabaseRule.UNIQUE,
}
# SQLITE_CONSTRAINT_FOREIGNKEY, _PRIMARYKEY, _UNIQUE and _ROWID.
SQLITE_CODES = {
    787: DatabaseRule.REFERENCE,
    1555: DatabaseRule.UNIQUE,
    2067: DatabaseRule.UNIQUE,
    2579: DatabaseRule.UNIQUE,
}
# What SQLite says on Python 3.10, whose driver does not give the code.
SQLITE_TEXTS = {
    "FOREIGN KEY constraint failed": DatabaseRule.REFERENCE,
    "UNIQUE constraint failed": DatabaseRule.UNIQUE,
}
# ER_DUP_ENTRY, then rows that are referred to and references to no row.
MYSQL_CODES = {
    1062: DatabaseRule.UNIQUE,
    **dict.fromkeys((1216, 1217, 1451, 1452), DatabaseRule.REFERENCE),
}
# ORA-00001, ORA-02291 and ORA-02292.
ORACLE_CODES = {1: DatabaseRule.UNIQUE, 2291: DatabaseRule.REFERENCE, 2292: DatabaseRule.REFERENCE}


def find_violation(
    exc: BaseException, name_blockers: Callable[[Blockers], str] | None = None
) -> Failure | None:
    if isinstance(exc, (ProtectedError, RestrictedError)):
        blockers = Blockers.from_exception(exc)
        message = _("The deletion was refused: other objects depend on what would be deleted.")
        remediation = _(
            "Delete the other objects first or let them refer to something else, if that is wanted;"
            " then call again."
        )
        if names := blockers.names:
            message = _("The deletion was refused: %(rows)s depend on what would be deleted.") % {
                "rows": (name_blockers and name_blockers(blockers)) or names
            }
            remediation = _(
                "Delete the %(rows)s first or let them refer to something else, if that is wanted;"
                " then call again."
            ) % {"rows": names}
    elif isinstance(exc, IntegrityError) and (rule := DatabaseRule.from_exception(exc)):
        message, remediation = map(_, rule.value)
    else:
        return None
    return Failure("CONFLICT", Category.CONFLICT, message, remediation)


def get_exception_status(exc: BaseException) -> int:
    return next(filter(None, map(EXCEPTION_STATUSES.get, type(exc).__mro__)), 500)
