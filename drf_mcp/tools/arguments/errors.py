"""Problems of arguments, with what a model has to send instead."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from drf_mcp.introspection.names import sounds_secret
from drf_mcp.json_text import JSONPointer, parse_json_text
from drf_mcp.option_types.spelling import ask_nearest, find_nearest, join_names
from drf_mcp.outcomes import Problem

MASK = "********"
MAX_NAME = 80
MAX_TEXT = 500
MAX_ITEMS = 20
MAX_MEMBERS = 50


def mask_secrets(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: mask_member(str(name), member) for name, member in value.items()}
    if isinstance(value, list):
        return [mask_secrets(item) for item in value]
    return value


def mask_member(name: str, value: Any) -> Any:
    return MASK if sounds_secret(name) else mask_secrets(value)


def escape_unprintable(text: str, limit: int = MAX_NAME) -> str:
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[:limit])


def parse_nested_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: parse_nested_json(member) for name, member in value.items()}
    if isinstance(value, list):
        return [parse_nested_json(item) for item in value]
    parsed = parse_json_text(parse_json_text(value, dict), list)
    return value if parsed is value else parse_nested_json(parsed)


def shorten_value(value: Any) -> Any:
    if isinstance(value, str) and len(value) > MAX_TEXT:
        return f"{value[:MAX_TEXT]}… ({len(value)} characters)"
    if isinstance(value, list):
        rest = len(value) - MAX_ITEMS
        kept = [shorten_value(item) for item in value[:MAX_ITEMS]]
        return [*kept, f"… ({rest} more)"] if rest > 0 else kept
    if isinstance(value, Mapping):
        rest = len(value) - MAX_MEMBERS
        kept_names = list(value)[:MAX_MEMBERS]
        kept_members = {name[:MAX_NAME]: shorten_value(value[name]) for name in kept_names}
        return {**kept_members, "…": f"{rest} more"} if rest > 0 else kept_members
    return value


# The most problems of unknown arguments in one error.
MAX_UNKNOWN = 20
MAX_NAMES = 40


def suggest(nearest: str | None, names: str) -> str:
    """Return the advice to use the nearest name or value, else one of those that are accepted."""
    if nearest:
        return ask_nearest([put_in_quotes(nearest)])
    if not names:
        return _("Leave it out.")
    # Translators: such as "Use one of status, customer."
    return _("Use one of %(names)s.") % {"names": names}


def put_in_quotes(name: str) -> str:
    return f"'{name}'"


class ArgumentsRefused(Exception):
    """The arguments cannot be bound to the request; `problems` has one for each argument."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{p.path} {p.message}".strip() for p in problems))
        self.problems = tuple(problems)


class ArgumentErrors:
    """Makes problems of the names of arguments, or of one group of them.

    Args:
        prefix: the JSON pointer of the group; "" for all arguments.
        holder: the argument for members of the body by any name; "" without one.
        unlisted: further names that are taken.
        read_only: names of the answer that no request sets.
        renamed: the names of arguments by the view's own names.
    """

    def __init__(
        self,
        prefix: str = "",
        known: Collection[str] = (),
        *,
        holder: str = "",
        unlisted: Collection[str] = (),
        read_only: Collection[str] = (),
        renamed: Mapping[str, str] | None = None,
    ) -> None:
        self.prefix = prefix
        self.known = known
        self.holder = holder
        self.unlisted = unlisted
        self.read_only = read_only
        self.renamed = renamed or {}

    def find_unknown(self, arguments: Mapping[str, Any]) -> list[Problem]:
        taken = {*self.known, *self.unlisted}
        unknown = islice((name for name in arguments if name not in taken), MAX_UNKNOWN)
        return [
            (self.read_only_argument if name in self.read_only else self.unknown_argument)(
                name, arguments[name]
            )
            for name in unknown
        ]

    @staticmethod
    def put_first(unknown: list[Problem], missing: list[Problem]) -> list[Problem]:
        """Return all problems, those of required arguments first.

        A required argument that was sent under a wrong name is one problem: that of the name.
        """
        required = {problem.pointer: problem for problem in missing}
        renamed: list[Problem] = []
        others: list[Problem] = []
        for problem in unknown:
            group = problem.pointer.rpartition("/")[0]
            likely = f"{group}/{JSONPointer.escape(problem.accepted or '')}"
            # Where one name is accepted, it is not always the suggested one.
            is_suggested = put_in_quotes(problem.accepted or "") in problem.remediation
            is_unknown = problem.code == "unknown" and is_suggested
            is_renamed = is_unknown and required.pop(likely, None) is not None
            (renamed if is_renamed else others).append(problem)
        return [*renamed, *required.values(), *others]

    def unknown_argument(self, name: str, value: Any) -> Problem:
        taken = [*self.known, *self.unlisted]
        same = [self.renamed[name]] if name in self.renamed else []
        nearest = same or find_nearest(name, taken)
        names = join_names(self.known, MAX_NAMES)
        wanted, facts = next(iter(nearest), ""), {"holder": self.holder}
        if not self.holder:
            remediation = suggest(wanted, names)
        elif nearest:
            otherwise = _("Else put it into '%(holder)s'.") % facts
            remediation = f"{suggest(wanted, '')} {otherwise}"
        else:
            remediation = _("Correct its name, or put it into '%(holder)s'.") % facts
        return Problem(
            code="unknown",
            message=_("Unknown argument."),
            pointer=self.get_pointer(name),
            received=mask_member(name, value),
            accepted=wanted or names or pgettext("accepted names", "none"),
            remediation=remediation,
        )

    def read_only_argument(self, name: str, value: Any) -> Problem:
        return Problem(
            code="read_only",
            message=_("This argument is read-only."),
            pointer=self.get_pointer(name),
            received=mask_member(name, value),
            remediation=_("Leave it out: the server sets it."),
        )

    def missing_argument(self, name: str) -> Problem:
        return Problem(
            code="required",
            message=_("This argument is required."),
            pointer=self.get_pointer(name),
            remediation=_("Provide it."),
        )

    def differing_names(self, name: str, other: str) -> Problem:
        facts = {"name": name, "other": other}
        message = _("'%(other)s' is another name of '%(name)s', and their values differ.")
        return Problem(
            code="conflicting",
            message=message % facts,
            pointer=self.get_pointer(other),
            remediation=_("Send '%(name)s' alone.") % facts,
        )

    def not_an_object(self, value: Any) -> Problem:
        return Problem(
            code="invalid",
            message=_("Arguments must be a JSON object."),
            pointer=self.prefix,
            received=mask_secrets(value),
            accepted=_("a JSON object"),
            remediation=_("Send an object with one member per argument."),
        )

    def get_pointer(self, name: str) -> str:
        return f"{self.prefix}/{JSONPointer.escape(name)}"
