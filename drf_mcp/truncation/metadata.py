"""What stands beside the data, made shorter: it may not take the room that the data needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile
from typing import Any, TypeAlias

from drf_mcp.outcomes import Outcome, Severity, Warning

Encode: TypeAlias = Callable[[Any], str]
"""Writes a value as REST framework's JSON encoder does."""

NAMES = ("telemetry", "meta", "suggestions", "warnings")
"""The members of an outcome that can lose entries."""
NEXT = "next"
LONG_NEXT = 500
"""Arguments of the next page of up to this many characters always stay."""
SHARES = 5
"""The share of the room that each of the members may keep is one of so many."""
SEVERITIES = (Severity.ERROR, Severity.WARNING, Severity.INFO)


@dataclass(frozen=True)
class Aside:
    """What was taken from beside the data.

    Attributes:
        name: the member of the outcome.
        left_out: its entries that are gone, as JSON.
        count: how many they are.
        total: how many there were.
    """

    name: str
    left_out: Any
    count: int
    total: int

    @property
    def told(self) -> str:
        """The fact in words, to be put into a sentence."""
        noun = "entries" if self.name in ("telemetry", "meta") else ""
        if self.name == NEXT:
            return "the arguments of the next page left out"
        return f"{self.count} of {self.total} {self.name} {noun}".rstrip() + " left out"


class Metadata:
    """Everything of an outcome but its data and problems.

    Args:
        write: renders and encodes the envelope exactly as it is sent.
        encode: writes a value as REST framework's JSON encoder does.
    """

    def __init__(self, write: Callable[[Outcome], str], encode: Encode) -> None:
        self.write = write
        self.encode = encode

    def shorten(self, outcome: Outcome, room: int) -> tuple[Outcome, tuple[Aside, ...]]:
        """Return an outcome whose longest members kept a share of the room, and what it lost.

        Args:
            outcome: any outcome.
            room: how long the envelope without data and problems may be.
        """

        def fits(candidate: Outcome) -> bool:
            return len(self.write(bare(candidate))) <= room

        asides: list[Aside] = []
        longest_first = sorted(NAMES, key=lambda name: self.length(outcome, name), reverse=True)
        for name in longest_first:
            if fits(outcome):
                return outcome, tuple(asides)
            entries = self.entries(outcome, name)
            count, total = self.count_within(entries, room // SHARES), len(entries)
            if count < total:
                outcome = self.with_entries(outcome, name, count)
                asides.append(Aside(name, as_json(entries[count:]), total - count, total))
        page = outcome.pagination
        if page is not None and len(self.encode(page.next)) > LONG_NEXT and not fits(outcome):
            asides.append(Aside(NEXT, page.next, 1, 1))
            outcome = outcome.changed(pagination=replace(page, next=None))
        return outcome, tuple(asides)

    def count_within(self, entries: Sequence[Any], room: int) -> int:
        """Return how many of the first entries are no longer than the room, as JSON."""
        lengths = accumulate(len(self.encode(as_json([entry]))) for entry in entries)
        return sum(1 for _ in takewhile(lambda length: length <= room, lengths))

    def with_entries(self, outcome: Outcome, name: str, count: int) -> Outcome:
        """Return an outcome with so many entries of one of its members."""
        kept = self.entries(outcome, name)[:count]
        is_object = isinstance(getattr(outcome, name), Mapping)
        return outcome.changed(**{name: dict(kept) if is_object else tuple(kept)})

    def length(self, outcome: Outcome, name: str) -> int:
        """Return how long a member of an outcome is, as JSON."""
        return len(self.encode(as_json(self.entries(outcome, name))))

    def entries(self, outcome: Outcome, name: str) -> Sequence[Any]:
        """Return the entries of a member of an outcome, those to be kept longest first."""
        value = getattr(outcome, name)
        if isinstance(value, Mapping):
            return sorted(value.items(), key=lambda entry: len(self.encode(entry[1])))
        if name == "warnings":
            return sorted(value, key=lambda warning: SEVERITIES.index(warning.severity))
        return tuple(value)


def bare(outcome: Outcome) -> Outcome:
    """Return an outcome without data, problems and context."""
    failure = outcome.failure
    if failure is not None:
        failure = replace(failure, problems=(), context={}, details={}, data=None)
    return outcome.changed(data=None, body=None, failure=failure)


def most(total: int, fits: Callable[[int], bool]) -> int:
    """Return the highest count below a total that fits, 0 if none does."""
    low, high = 0, total
    while low < high - 1:
        count = (low + high) // 2
        if fits(count):
            low = count
        else:
            high = count
    return low


def as_json(entries: Sequence[Any]) -> Any:
    """Return entries as JSON."""
    if entries and isinstance(entries[0], tuple):
        return dict(entries)
    return [as_object(entry) if isinstance(entry, Warning) else entry for entry in entries]


def as_object(warning: Warning) -> dict[str, Any]:
    """Return a warning as ``warning_details`` would have told of it."""
    told = {"code": warning.code, "severity": warning.severity.value, "message": warning.message}
    more = {"context": dict(warning.context), "remediation": warning.remediation}
    return told | {name: value for name, value in more.items() if value}
