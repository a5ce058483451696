"""Refusals of values that a view would ignore or drop without an error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, product
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, pgettext

from drf_mcp.introspection.closed_sets import ClosedSet
from drf_mcp.introspection.text import describe_accepted
from drf_mcp.introspection.types import ANY, Place
from drf_mcp.json_text import JSONPointer
from drf_mcp.option_types.spelling import find_nearest
from drf_mcp.outcomes import Problem
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.arguments.call import Argument, write_query, write_query_text
from drf_mcp.tools.arguments.errors import MAX_UNKNOWN, ArgumentErrors, mask_secrets, suggest

Value = tuple[Argument, Any]


def report_too_long(values: Iterable[Value], length: int) -> Problem:
    """Return the problem of a URL that a server would answer with 414 (RFC 9110, 15.5.15).

    Args:
        values: the values of the path and the query; the problem names the longest argument.
        length: the bytes of all values in the URL.
    """
    argument, _value = max(values, key=lambda v: len(write_query(v[0].get_query_pairs(v[1]))))
    facts = {"name": argument.name, "length": length, "limit": mcp_settings.MAX_QUERY_LENGTH}
    return Problem(
        code="max_length",
        message=_("The URL of the request would have %(length)d bytes of arguments.") % facts,
        pointer=argument.pointer,
        accepted=_("at most %(limit)d bytes in all arguments of the path and query") % facts,
        remediation=_("Shorten '%(name)s', or send it in parts, one call each.") % facts,
    )


# --- Query parameters -----------------------------------------------------------------------------


def find_ignored(values: Iterable[Value]) -> list[Problem]:
    """Return a problem for each value of a query parameter that the view ignores."""

    def find() -> Iterator[Problem]:
        for argument, value in values:
            closed = argument.parameter.closed
            if closed is None or value is None:
                continue
            several = isinstance(value, list)
            for index, item in enumerate(value if several else [value]):
                pointer = f"{argument.pointer}/{index}" if several else argument.pointer
                for part in closed.ignored(write_query_text(item)):
                    yield report_ignored(part, pointer, closed)

    return list(islice(find(), MAX_UNKNOWN))


def report_ignored(value: str, pointer: str, closed: ClosedSet) -> Problem:
    nearest = next(iter(find_nearest(value, closed.get_candidates(value))), "")
    otherwise = gettext_noop("Use an accepted value, or leave '%(name)s' out.")
    return Problem(
        code=closed.code,
        message=closed.get_message(value),
        pointer=pointer,
        received=mask_secrets(value),
        accepted=describe_accepted(closed.get_schema()) or pgettext("accepted names", "none"),
        remediation=suggest(value, nearest, otherwise),
    )


def find_reversed(values: Iterable[Value]) -> Iterator[Problem]:
    """Yield a problem for each range that ends before it begins."""
    bounds = [(argument, value) for argument, value in values if argument.parameter.part]
    for lower, upper in product(bounds, bounds):
        start: Any = lower[0].parameter.part
        end: Any = upper[0].parameter.part
        if start.bounds_with(end) and is_after(start.read(lower[1]), end.read(upper[1])):
            yield report_reversed(lower, upper)


def is_after(low: Any, high: Any) -> bool:
    # The filter judges values that cannot be compared.
    try:
        return low is not None and high is not None and bool(low > high)
    except TypeError:
        return False


def report_reversed(lower: Value, upper: Value) -> Problem:
    accepted = _("at most %(value)s, the value of '%(upper)s'")
    remediation = _("Exchange '%(lower)s' and '%(upper)s', or leave one of them out.")
    facts = {"lower": lower[0].name, "upper": upper[0].name, "value": upper[1]}
    return Problem(
        code="reversed_range",
        message=_("The range ends before it begins, so nothing lies in it."),
        pointer=lower[0].pointer,
        received=mask_secrets(lower[1]),
        accepted=accepted % facts,
        remediation=remediation % facts,
    )


# --- Members of nested objects --------------------------------------------------------------------


def find_dropped(values: Iterable[Value], keys: Mapping[Place, Place]) -> list[Problem]:
    """Return a problem for each member that a nested serializer drops: unknown and read-only ones.

    Args:
        keys: the places whose keys the view's parser renames.
    """
    renamed = {place[-1] for place in keys.values()}

    def find() -> Iterator[Problem]:
        for argument, value in values:
            for place, names in argument.parameter.handling.nested.items():
                for pointer, member in walk(value, place, argument.pointer):
                    errors = ArgumentErrors(
                        pointer, names.writable, unlisted=renamed, read_only=names.read_only
                    )
                    yield from errors.find_unknown(member)

    return list(islice(find(), MAX_UNKNOWN))


def walk(value: Any, place: Place, pointer: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects at a place of a value, each with its pointer."""
    if not place:
        if isinstance(value, Mapping):
            yield pointer, value
        return
    members: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        members = [pair for pair in value.items() if place[0] in (ANY, pair[0])]
    elif place[0] == ANY and isinstance(value, list):
        members = enumerate(value)
    for name, member in members:
        yield from walk(member, place[1:], JSONPointer.from_parent(pointer, str(name)))
