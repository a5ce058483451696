"""The names in one object of the arguments: which of them are taken, passed on or refused."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from drf_mcp.arguments.errors import MASK, MAX_UNKNOWN, mask_member, suggest
from drf_mcp.introspection.names import sounds_secret
from drf_mcp.json_text import OBJECTS, JSONPointer
from drf_mcp.option_types.spelling import (
    ask_nearest,
    find_nearest,
    is_slip,
    join_alternatives,
    join_names,
)
from drf_mcp.outcomes import Problem, Warning

MAX_NAMES = 40
# Names that models give to an object around the members of a body.
WRAPPERS = frozenset({"body", "data", "payload"})
UNDESCRIBED, READ_ONLY = "UNDESCRIBED_ARGUMENT", "READ_ONLY_ARGUMENT"
UNREAD, UNCHANGED = "UNREAD_ARGUMENT", "NOTHING_TO_CHANGE"


@dataclass
class Remarks:
    """What a call sends besides the arguments that are described, by dotted paths.

    Attributes:
        passed: the names that are passed on, each with the described name that it may mean.
        ignored: the read-only names.
        unread: the names that only other actions of the view read.
        changes_nothing: whether a PATCH has no member of a body.
    """

    passed: dict[str, str] = field(default_factory=dict)
    ignored: dict[str, None] = field(default_factory=dict)
    unread: dict[str, None] = field(default_factory=dict)
    changes_nothing: bool = False

    def make_warnings(self) -> Iterator[Warning]:
        if self.passed:
            text = f"Not described, so passed on as sent: {_quote_first(self.passed)}."
            nearest = {name: other for name, other in self.passed.items() if other}
            asked = [
                ask_nearest([f"'{other}'"]) if len(self.passed) == 1 else f"'{name}': '{other}'?"
                for name, other in islice(nearest.items(), MAX_UNKNOWN)
            ]
            check = "The view uses or ignores such arguments: check the answer."
            yield Warning(UNDESCRIBED, " ".join([text, check, *asked]))
        if self.ignored:
            yield Warning(READ_ONLY, f"Read-only, so ignored: {_quote_first(self.ignored)}.")
        if self.unread:
            names = _quote_first(self.unread)
            yield Warning(UNREAD, f"Not read by this tool, only by others of the view: {names}.")
        if self.changes_nothing:
            yield Warning(UNCHANGED, "Nothing was sent to change: the body had no member.")


def _quote_first(pointers: Iterable[str]) -> str:
    # One of each place: rows have the same names.
    places = {
        "/".join(t for t in p.split("/") if not t.isdecimal()): p for p in reversed([*pointers])
    }
    return join_names(f"'{JSONPointer(places[place]).dotted}'" for place in reversed(places))


@dataclass
class KnownNames:
    """What is known of the names in one object.

    Attributes:
        names: the names that are accepted and suggested.
        unlisted: further names that are accepted, and not suggested.
        read_only: names in answers that a request cannot set.
        ignores_read_only: whether those are taken and ignored.
        renamed: the names of arguments by the view's own names.
        lacking: the required names that are not sent.
        passes: whether other names are passed on, since unknown code may read them.
        holders: the arguments that take members with any name.
        secret: the pointers of values that no answer repeats, without the indexes of items.
    """

    names: Collection[str]
    unlisted: Collection[str] = ()
    read_only: Collection[str] = ()
    ignores_read_only: bool = False
    renamed: Mapping[str, str] = field(default_factory=dict)
    lacking: Collection[str] = ()
    passes: bool = False
    holders: Collection[str] = ()
    secret: Collection[str] = ()

    def check(
        self, sent: Mapping[str, Any], prefix: str = "", remarks: Remarks | None = None
    ) -> list[Problem]:
        """Return the problems of the first names that are refused.

        Args:
            prefix: the JSON pointer of the object; "" for all arguments.
            remarks: takes the names that are not refused.
        """
        taken, problems = dict.fromkeys([*self.names, *self.unlisted]), list[Problem]()
        for name in [each for each in sent if each not in taken]:
            pointer = JSONPointer.from_parent(prefix, name)
            is_read_only = name in self.read_only
            if is_read_only and self.ignores_read_only and not self.passes:
                if remarks is not None:
                    remarks.ignored[pointer] = None
                continue
            received = mask_member(name, sent[name])
            if is_read_only and not self.passes:
                message, advice = "This argument is read-only.", "Leave it out: the server sets it."
                problem = Problem("read_only", message, pointer, received, remediation=advice)
            elif self.passes and not self._is_mistaken(name, sent, taken):
                if remarks is not None:
                    nearest = "" if is_read_only else next(iter(find_nearest(name, self.names)), "")
                    remarks.passed[pointer] = nearest
                continue
            else:
                problem = self.refuse(name, sent, pointer, taken)
            problems.append(problem)
            if len(problems) == MAX_UNKNOWN:
                break
        return problems

    def _is_mistaken(self, name: str, sent: Mapping[str, Any], taken: Iterable[str]) -> bool:
        """Return whether a name is likely another name, though unknown names are passed on."""
        if name in WRAPPERS and isinstance(sent[name], OBJECTS):
            return True
        if name in self.read_only:
            return False
        return bool(self._find_slip(name, sent, taken) or find_nearest(name, self.lacking))

    def _find_slip(self, name: str, sent: Mapping[str, Any], taken: Iterable[str]) -> str:
        return next((o for o in taken if o not in sent and is_slip(name, o)), "")

    def refuse(
        self, name: str, sent: Mapping[str, Any], pointer: str, taken: Collection[str]
    ) -> Problem:
        received = mask_member(name, sent[name])
        names, similar = join_names(self.names, MAX_NAMES), find_nearest(name, taken, 3)
        nearest = self.renamed.get(name) or next(iter(similar), "")
        if self.passes:
            likely = find_nearest(name, self.lacking)
            nearest = self._find_slip(name, sent, taken) or next(iter(likely), nearest)
        # A mistyped name of a secret holds the secret.
        prefix = pointer.rpartition("/")[0]
        if any(_is_secret_place(prefix, other, self.secret) for other in [nearest, *similar]):
            received = MASK
        holders = join_alternatives(f"'{holder}'" for holder in self.holders)
        if self.passes and name in WRAPPERS and isinstance(sent[name], OBJECTS):
            advice = f"Send the members of '{name}' as arguments."
        elif not holders:
            advice = suggest(nearest, names)
        elif nearest:
            advice = f"{suggest(nearest, '')} Else put it into {holders}."
        else:
            advice = f"Correct its name, or put it into {holders}."
        accepted = nearest or names or "none"
        return Problem("unknown", "Unknown argument.", pointer, received, accepted, advice)


def _is_secret_place(prefix: str, name: str, secret: Collection[str]) -> bool:
    place = [token for token in prefix.split("/") if not token.isdecimal()]
    return sounds_secret(name) or "/".join([*place, JSONPointer.escape(name)]) in secret
