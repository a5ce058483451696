"""Values that come to nothing in silence over HTTP: refused, with the value that would do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, islice, product
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, pgettext

from drf_mcp.introspection.closed_sets import ClosedSet
from drf_mcp.introspection.schema_words import SchemaWords
from drf_mcp.introspection.types import ANY, Place
from drf_mcp.json_text import JSONPointer
from drf_mcp.outcomes import Problem
from drf_mcp.settings import mcp_settings
from drf_mcp.spelling import find_nearest
from drf_mcp.tools.arguments.call import Argument, write_query, write_query_text
from drf_mcp.tools.arguments.errors import MAX_UNKNOWN, ArgumentErrors, suggest
from drf_mcp.tools.arguments.masking import mask_secrets

Value = tuple[Argument, Any]


class URLValues:
    """The values of the path and query of a call, for which no URL has room.

    RFC 9110, section 15.5.15: a server answers 414.
    """

    def __init__(self, values: list[Value]) -> None:
        self.values = values

    def too_long(self, length: int) -> Problem:
        """Return the problem, with the longest argument.

        Args:
            length: the bytes of all values in the URL.
        """
        argument, _value = max(self.values, key=self.get_length)
        facts = {"name": argument.name, "length": length, "limit": mcp_settings.MAX_QUERY_LENGTH}
        return Problem(
            code="max_length",
            message=_("The URL of the request would have %(length)d bytes of arguments.") % facts,
            pointer=argument.pointer,
            accepted=_("at most %(limit)d bytes in all arguments of the path and query") % facts,
            remediation=_("Shorten '%(name)s', or send it in parts, one call each.") % facts,
        )

    def get_length(self, each: Value) -> int:
        return len(write_query(each[0].get_query_pairs(each[1])))


class QueryValues:
    """The values of the query parameters of a call."""

    def __init__(self, values: list[Value]) -> None:
        self.values = values

    def find_problems(self) -> list[Problem]:
        return list(islice(self.find_ignored(), MAX_UNKNOWN))

    def find_ignored(self) -> Iterator[Problem]:
        for argument, value in self.values:
            closed = argument.parameter.closed
            if closed is None or value is None:
                continue
            several = isinstance(value, list)
            for index, item in enumerate(value if several else [value]):
                pointer = f"{argument.pointer}/{index}" if several else argument.pointer
                for part in closed.ignored(write_query_text(item)):
                    yield self.ignored_value(part, pointer, closed)

    def ignored_value(self, value: str, pointer: str, closed: ClosedSet) -> Problem:
        nearest = next(iter(find_nearest(value, closed.get_candidates(value))), "")
        otherwise = gettext_noop("Use an accepted value, or leave '%(name)s' out.")
        return Problem(
            code=closed.code,
            message=closed.get_message(value),
            pointer=pointer,
            received=mask_secrets(value),
            accepted=SchemaWords(closed.get_schema()).accepted
            or pgettext("accepted names", "none"),
            remediation=suggest(value, nearest, otherwise),
        )

    def find_reversed(self) -> Iterator[Problem]:
        bounds = [(argument, value) for argument, value in self.values if argument.parameter.part]
        for lower, upper in product(bounds, bounds):
            start: Any = lower[0].parameter.part
            end: Any = upper[0].parameter.part
            if start.bounds_with(end) and self.is_after(start.read(lower[1]), end.read(upper[1])):
                yield self.reversed_range(lower, upper)

    def is_after(self, low: Any, high: Any) -> bool:
        # A value that is refused, or of another kind, is for the filter to judge.
        try:
            return low is not None and high is not None and bool(low > high)
        except TypeError:
            return False

    def reversed_range(self, lower: Value, upper: Value) -> Problem:
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


class NestedMembers:
    """The members of nested objects: serializers drop unknown and read-only ones in silence.

    Args:
        argument: an argument whose value holds objects of nested serializers.
        renamed: the names by which the view's parser knows members as well.
    """

    def __init__(self, argument: Argument, renamed: Collection[str] = ()) -> None:
        self.argument = argument
        self.renamed = renamed

    def find_problems(self, value: Any) -> Iterator[Problem]:
        for place, names in self.argument.parameter.handling.nested.items():
            for pointer, member in self.walk(value, place, self.argument.pointer):
                errors = ArgumentErrors(
                    pointer, names.writable, unlisted=self.renamed, read_only=names.read_only
                )
                yield from errors.find_unknown(member)

    def walk(self, value: Any, place: Place, pointer: str) -> Iterator[tuple[str, Any]]:
        if not place:
            if isinstance(value, Mapping):
                yield pointer, value
            return
        for name, member in self.get_members(value, place[0]):
            yield from self.walk(member, place[1:], JSONPointer.from_parent(pointer, str(name)))

    def get_members(self, value: Any, step: str) -> Iterable[tuple[Any, Any]]:
        if isinstance(value, Mapping):
            return [pair for pair in value.items() if step in (ANY, pair[0])]
        return enumerate(value) if step == ANY and isinstance(value, list) else ()


def find_dropped(values: Iterable[Value], keys: Mapping[Place, Place]) -> list[Problem]:
    """Return the members of nested objects that no serializer reads, as far as an error has room.

    Args:
        keys: the places whose keys the view's parser renames.
    """
    renamed = {place[-1] for place in keys.values()}
    found = (NestedMembers(argument, renamed).find_problems(value) for argument, value in values)
    return list(islice(chain.from_iterable(found), MAX_UNKNOWN))
