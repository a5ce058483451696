"""Arguments that cannot be bound, told so that the next call can be right."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Any

from drf_mcp.introspection.types import ClosedSet
from drf_mcp.outcomes import Problem
from drf_mcp.tools.arguments.masking import masked, masked_member

# How many unknown arguments are told of; a body has room for a hundred thousand.
MAX_UNKNOWN = 20
MAX_NAMES = 40


class ArgumentsRefused(Exception):
    """The arguments cannot be bound to the request.

    Args:
        problems: what is wrong, one entry per argument.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = tuple(problems)


def escape(name: str) -> str:
    """Escape a reference token of a JSON pointer (RFC 6901, section 3)."""
    return name.replace("~", "~0").replace("/", "~1")


def unknown_arguments(
    given: Mapping[str, Any],
    prefix: str,
    known: Collection[str],
    holder: str = "",
    unlisted: Collection[str] = (),
    read_only: Collection[str] = (),
) -> list[Problem]:
    """Return a problem for each argument that does not exist, up to `MAX_UNKNOWN`.

    Args:
        given: the arguments, or those of one group.
        prefix: the JSON pointer of the group; "" for all arguments.
        known: the names that the tool's schema has.
        holder: the argument that any member of the body goes into; "" without one.
        unlisted: further names that are taken.
        read_only: names of the answer that no request sets.
    """
    taken = {*known, *unlisted}
    unknown = islice((name for name in given if name not in taken), MAX_UNKNOWN)
    return [
        read_only_argument(name, given[name], prefix)
        if name in read_only
        else unknown_argument(name, given[name], prefix, known, holder, unlisted)
        for name in unknown
    ]


def unknown_argument(
    name: str,
    value: Any,
    prefix: str,
    known: Collection[str],
    holder: str = "",
    unlisted: Collection[str] = (),
) -> Problem:
    """Return the problem of an argument that does not exist."""
    nearest = difflib.get_close_matches(name, [*known, *unlisted], n=1)
    further = f" and {len(known) - MAX_NAMES} more" if len(known) > MAX_NAMES else ""
    names = (", ".join(islice(known, MAX_NAMES)) or "none") + further
    hint = f"Did you mean '{nearest[0]}'?" if nearest else f"Accepted arguments: {names}."
    mended = f"Put '{name}' into '{holder}'" if holder else f"Leave '{name}' out"
    return Problem(
        code="unknown",
        message=f"Unknown argument '{name}'.",
        pointer=f"{prefix}/{escape(name)}",
        received=masked_member(name, value),
        accepted=nearest[0] if nearest else names,
        remediation=f"{hint} {mended} or correct its name, then call again.",
    )


def read_only_argument(name: str, value: Any, prefix: str) -> Problem:
    """Return the problem of an argument whose value the view would ignore."""
    return Problem(
        code="read_only",
        message=f"'{name}' is read-only.",
        pointer=f"{prefix}/{escape(name)}",
        received=masked_member(name, value),
        remediation=f"Leave '{name}' out, then call again.",
    )


def ignored_value(value: str, pointer: str, name: str, closed: ClosedSet) -> Problem:
    """Return the problem of a value that the view would ignore, with the nearest it would not."""
    nearest = difflib.get_close_matches(value, closed.choices, n=1)
    hint = f"Did you mean '{nearest[0]}'?" if nearest else f"Accepted: {closed.words}."
    return Problem(
        code="invalid_choice",
        message=f"'{name}' takes no value '{value}'.",
        pointer=pointer,
        received=masked(value),
        accepted=closed.words,
        remediation=f"{hint} Correct '{value}' or leave it out, then call again.",
    )


def missing_argument(name: str, prefix: str) -> Problem:
    """Return the problem of an argument without which there is no path."""
    return Problem(
        code="required",
        message=f"Argument '{name}' is required.",
        pointer=f"{prefix}/{escape(name)}",
        remediation=f"Provide '{name}' and call again.",
    )


def beside_whole(name: str, pointer: str) -> Problem:
    """Return the problem of a whole body that came together with the fields of another."""
    return Problem(
        code="invalid",
        message=f"'{name}' is the whole body, so no other field of it can be sent.",
        pointer=pointer,
        remediation=f"Send either '{name}' or the fields of one object, then call again.",
    )


def not_an_object(pointer: str, value: Any) -> Problem:
    """Return the problem of arguments, or a group of them, of another JSON type."""
    return Problem(
        code="invalid",
        message="Arguments must be a JSON object.",
        pointer=pointer,
        received=masked(value),
        accepted="a JSON object",
        remediation="Send an object with one member per argument.",
    )


def cannot_encode(exc: Exception) -> Problem:
    """Return the problem of a value that has no place in a request."""
    return Problem(
        code="invalid",
        message=f"The arguments cannot be sent as a request: {exc}",
        remediation="Correct the value and call again.",
    )
