"""Problems of arguments, with what a model has to send instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from drf_mcp.introspection.names import sounds_secret
from drf_mcp.json_text import JSONPointer, parse_json_text
from drf_mcp.option_types.spelling import ask_nearest
from drf_mcp.outcomes import Problem
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
    """Refuse a list with more items than a bound takes, before any item is looked up.

    Args:
        bound: the name of its setting.
    """
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
