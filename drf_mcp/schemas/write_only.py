"""Fields that are sent and never shown again, such as passwords."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from drf_mcp.schemas.bodies import input_serializer
from drf_mcp.schemas.inspection import GUARD, Inspection
from drf_mcp.schemas.serializers import is_recursive, writable

Names = tuple[str, ...]


def write_only_names(view: Any, method: str) -> frozenset[Names]:
    """Return the names that lead to each write-only field of a view's body.

    A list stands for each of its items: ``("lines", "voucher")``.

    Args:
        view: an instance of the view, as `describe` takes it.
        method: the HTTP method.
    """
    inspection = Inspection(view, method)
    serializer = input_serializer(inspection)
    nothing: frozenset[Names] = frozenset()
    return inspection.attempt(lambda: frozenset(below(serializer)), GUARD, nothing)


def below(field: Any, names: Names = ()) -> Iterator[Names]:
    """Yield the names of the write-only fields in a field."""
    while hasattr(field, "child"):
        field = field.child
    if not hasattr(field, "fields") or is_recursive(field):
        return
    for name, member in writable(field).items():
        if member.write_only:
            yield (*names, name)
        else:
            yield from below(member, (*names, name))
