"""Problems of arguments and of their names, with what a model has to send instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from drf_mcp.introspection.names import sounds_secret
from drf_mcp.json_text import OBJECTS, JSONPointer, parse_json_text
from drf_mcp.option_types.spelling import (
    ask_nearest,
    find_nearest,
    is_slip,
    join_alternatives,
    join_names,
)
from drf_mcp.outcomes import Problem, Warning
from drf_mcp.settings import mcp_settings, say_bound

MASK = "********"
# The member, and item, that replaces what was left out.
MORE = "…"
MAX_NAME = 80
MAX_TEXT = 500
MAX_ITEMS = 20
MAX_MEMBERS = 50
# Values within a shortened value, and characters of a text that is read as JSON.
MAX_VALUES, MAX_JSON = 2_000, 20_000
# An error shows the first hundred characters of the JSON of these values.
SHOWN_VALUES = 100
# Objects such as {"name": "Authorization", "value": "..."}.
NAMING, NAMED = ("name", "key", "header", "field"), frozenset({"value", "values"})
# Credentials within a text: a line of headers, or a value of one.
CREDENTIAL = re.compile(
    r"(?i)(?:(?<=authorization:)|(?<=cookie:)|(?<=api-key:))[ \t]*\S.*|(?<=\bbearer\s)\s*\S+"
)


def mask_secrets(value: Any) -> Any:
    """Return the beginning of a value, as much as an error shows, without secrets."""
    return _mask_all(Shortener(SHOWN_VALUES, silent=True).shorten(value), mask_text)


def _mask_all(value: Any, mask: Callable[[str], str]) -> Any:
    if isinstance(value, Mapping):
        secret = find_secret_members(value)
        return {n: MASK if n in secret else _mask_all(member, mask) for n, member in value.items()}
    if isinstance(value, list):
        return [_mask_all(item, mask) for item in mask_pair(value)]
    return mask(value) if isinstance(value, str) else value


def mask_member(name: str, value: Any) -> Any:
    """Return a member of an object, without what is secret by its name or in its value."""
    return MASK if sounds_secret(name) else mask_secrets(value)


def mask_body(name: str, value: Any) -> Any:
    """Return a whole member of an error's body, without secrets."""
    return MASK if sounds_secret(name) else _mask_all(value, _mask_credentials)


def _mask_credentials(text: str) -> str:
    return CREDENTIAL.sub(f" {MASK}", text)


def find_secret_members(value: Mapping[Any, Any]) -> set[Any]:
    """Return the members of an object whose values are secret, by their names or a pair's."""
    secret = {name for name in value if sounds_secret(str(name))}
    named = (value.get(name) for name in NAMING)
    if any(isinstance(name, str) and sounds_secret(name) for name in named):
        secret |= NAMED & value.keys()
    return secret


def mask_pair(value: list[Any]) -> list[Any]:
    """Return a list, without the secret of a pair such as ["Authorization", "..."]."""
    is_pair = len(value) == 2 and all(isinstance(part, str) for part in value)
    return [value[0], MASK] if is_pair and sounds_secret(value[0]) else value


def mask_text(text: str) -> str:
    # An error shows the beginning alone.
    start = text[: 2 * MAX_TEXT]
    masked = _mask_credentials(start)
    return text if masked == start else masked


def escape_unprintable(text: str, limit: int = MAX_NAME) -> str:
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[:limit])


class Shortener:
    """Shortens a JSON value that a caller sent, in a time that does not grow with the value.

    Args:
        room: how many values are kept, those in lists and objects among them.
        silent: True leaves out what has no room; False says so, and reads texts with JSON, which
            may hold secrets.
    """

    def __init__(self, room: int = MAX_VALUES, *, silent: bool = False) -> None:
        self.room = room
        self.silent = silent

    def shorten(self, value: Any) -> Any:
        self.room -= 1
        if isinstance(value, str) and not self.silent:
            return self._shorten_text(value)
        if isinstance(value, list):
            kept = self.keep(value, self.room if self.silent else MAX_ITEMS)
            rest = len(value) - len(kept)
            return [*kept, f"{MORE} ({rest} more)"] if rest and not self.silent else kept
        if isinstance(value, Mapping):
            names = list(islice(value, self.room if self.silent else MAX_MEMBERS))
            members = dict(
                zip(names, self.keep([value[n] for n in names], len(names)), strict=False)
            )
            rest = len(value) - len(members)
            if self.silent:
                return members
            members = {str(name)[:MAX_NAME]: member for name, member in members.items()}
            return {**members, MORE: f"{rest} more"} if rest else members
        return value

    def keep(self, values: Sequence[Any], most: int) -> list[Any]:
        kept: list[Any] = []
        for value in values[: max(most, 0)]:
            if self.room <= 0:
                break
            kept.append(self.shorten(value))
        return kept

    def _shorten_text(self, text: str) -> Any:
        if text.lstrip()[:1] in ("{", "["):
            if len(text) > MAX_JSON:
                # What cannot be looked through may hold a secret.
                return f"{MORE} ({len(text)} characters)"
            parsed = parse_json_text(text, (dict, list))
            if parsed is not text:
                return self.shorten(parsed)
        return (
            text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}{MORE} ({len(text)} characters)"
        )


def shorten_value(value: Any) -> Any:
    """Return a JSON value as errors and logs show it: the beginnings of long texts and lists."""
    return Shortener().shorten(value)


# The most problems of unknown arguments in one error.
MAX_UNKNOWN = 20


def suggest(nearest: str | None, names: str) -> str:
    """Return the advice to use the nearest name or value, else one of the accepted ones."""
    if nearest:
        return ask_nearest([f"'{nearest}'"])
    if not names:
        return "Leave it out."
    return f"Use one of {names}."


class ArgumentsRefused(Exception):
    """The arguments cannot be bound to the request; `problems` has one for each argument."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{p.path} {p.message}".strip() for p in problems))
        self.problems = tuple(problems)


def refuse_many(bound: str, count: int, pointer: str) -> None:
    """Refuse a list with more items than a setting takes, before any item is looked up."""
    if count > getattr(mcp_settings, bound):
        advice = "Ask for the others in further calls."
        raise ArgumentsRefused(
            [Problem("max_length", say_bound(bound), pointer, remediation=advice)]
        )


def missing_argument(pointer: str) -> Problem:
    """Return the problem of a required argument that was not sent."""
    return Problem(
        code="required",
        message="This argument is required.",
        pointer=pointer,
        remediation="Provide it.",
    )


def refuse_other_name(name: str, other: str) -> Problem:
    return Problem(
        code="conflicting",
        message=f"'{other}' is another name of '{name}', and their values differ.",
        pointer=JSONPointer.from_path([other]),
        remediation=f"Send '{name}' alone.",
    )


def not_an_object(value: Any, pointer: str = "") -> Problem:
    """Return the problem of arguments that are no JSON object."""
    return Problem(
        code="invalid",
        message="Arguments must be a JSON object.",
        pointer=pointer,
        received=mask_secrets(value),
        accepted="a JSON object",
        remediation="Send an object with one member per argument.",
    )


def put_first(unknown: list[Problem], missing: list[Problem]) -> list[Problem]:
    """Return all problems, of required arguments first.

    A required argument that was sent under a wrong name is one problem, of the name.
    """
    required = {problem.pointer: problem for problem in missing}
    renamed: list[Problem] = []
    others: list[Problem] = []
    for problem in unknown:
        group = problem.pointer.rpartition("/")[0]
        likely = f"{group}/{JSONPointer.escape(problem.accepted or '')}"
        # The only accepted name is not always the suggested one.
        is_suggested = f"'{problem.accepted}'" in problem.remediation
        is_unknown = problem.code == "unknown" and is_suggested
        is_renamed = is_unknown and required.pop(likely, None) is not None
        (renamed if is_renamed else others).append(problem)
    return [*renamed, *required.values(), *others]


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
