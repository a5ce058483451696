"""What a database refused: rows that others refer to, and broken constraints."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.db import IntegrityError
from django.db.models import Model
from django.db.models.deletion import ProtectedError, RestrictedError

from drf_mcp.codes import Category
from drf_mcp.introspection.text import find_plural_name, join_values
from drf_mcp.outcomes import Failure

# The message and the remediation, in English, by what the error code of a database driver means.
UNIQUE = (
    "A value that has to be unique is taken.",
    "Read which objects exist: use the one that has these values, or send other values.",
)
REFERENCE = (
    "A reference between objects would be broken.",
    (
        "Check that every object that the arguments identify exists, and that nothing refers to"
        " an object that would be deleted; then decide whether to call again."
    ),
)
# PostgreSQL's unique violation; SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE and _ROWID; MySQL's
# ER_DUP_ENTRY; ORA-00001. Then restrict and foreign key violations, rows that are referred to, and
# references to no row.
BROKEN_RULES: Mapping[Any, tuple[str, str]] = {
    **dict.fromkeys(("23505", 1555, 2067, 2579, 1062, 1), UNIQUE),
    **dict.fromkeys(("23001", "23503", 787, 1216, 1217, 1451, 1452, 2291, 2292), REFERENCE),
}


def find_broken_rule(exc: IntegrityError) -> tuple[str, str] | None:
    cause: Any = exc.__cause__
    code: Any = cause.args[0] if cause is not None and cause.args else None
    if hasattr(code, "full_code"):
        code = code.code
    elif not isinstance(code, int):
        names = ("sqlstate", "pgcode", "sqlite_errorcode")
        code = next(filter(None, (getattr(cause, name, None) for name in names)), None)
    return BROKEN_RULES.get(code)


def find_violation(exc: BaseException) -> Failure | None:
    if isinstance(exc, (ProtectedError, RestrictedError)):
        message = "The deletion was refused: other objects depend on what would be deleted."
        remediation = (
            "Delete the other objects first or let them refer to something else, if that is wanted;"
            " then call again."
        )
        if names := join_values(map(find_plural_name, _find_blockers(exc))):
            message = f"The deletion was refused: {names} depend on what would be deleted."
            remediation = (
                f"Delete the {names} first or let them refer to something else, if that is wanted;"
                " then call again."
            )
    elif isinstance(exc, IntegrityError) and (rule := find_broken_rule(exc)):
        message, remediation = rule
    else:
        return None
    return Failure("CONFLICT", Category.CONFLICT, message, remediation)


def _find_blockers(exc: ProtectedError | RestrictedError) -> list[type[Model]]:
    """Return the models of the rows that prevent a deletion."""
    objects = getattr(exc, "protected_objects", None) or getattr(exc, "restricted_objects", ())
    # A project may raise the exception with any value, such as a queryset.
    rows = objects if isinstance(objects, Collection) else ()
    models = {type(row) for row in rows if isinstance(row, Model)}
    return sorted(models, key=lambda model: model._meta.label)
