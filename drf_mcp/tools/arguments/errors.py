"""Problems of arguments, with what a model has to send instead."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
    """Return the advice to use the nearest name or value, else one of the accepted ones."""
    if nearest:
        return ask_nearest([f"'{nearest}'"])
    if not names:
        return _("Leave it out.")
    # Translators: such as "Use one of status, customer."
    return _("Use one of %(names)s.") % {"names": names}


class ArgumentsRefused(Exception):
    """The arguments cannot be bound to the request; `problems` has one for each argument."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{p.path} {p.message}".strip() for p in problems))
        self.problems = tuple(problems)


def find_unknown(
    arguments: Mapping[str, Any],
    known: Collection[str],
    prefix: str = "",
    *,
    holder: str = "",
    unlisted: Collection[str] = (),
    read_only: Collection[str] = (),
    renamed: Mapping[str, str] | None = None,
) -> list[Problem]:
    """Return a problem for each argument, or member of an object, whose name is not known.

    Args:
        prefix: the JSON pointer of the object; "" for all arguments.
        holder: the argument that takes members of the body with any name; "" for none.
        unlisted: further names that are accepted, and not suggested.
        read_only: names in answers that a request cannot set.
        renamed: the names of arguments by the view's own names.
    """
    problems, taken = [], dict.fromkeys([*known, *unlisted])
    unknown = [name for name in arguments if name not in taken]
    for name in unknown[:MAX_UNKNOWN]:
        pointer = JSONPointer.from_parent(prefix, name)
        received = mask_member(name, arguments[name])
        if name in read_only:
            message = _("This argument is read-only.")
            advice = _("Leave it out: the server sets it.")
            problems.append(Problem("read_only", message, pointer, received, remediation=advice))
            continue
        names, facts = join_names(known, MAX_NAMES), {"holder": holder}
        nearest = (renamed or {}).get(name) or next(iter(find_nearest(name, taken)), "")
        if not holder:
            advice = suggest(nearest, names)
        elif nearest:
            otherwise = _("Else put it into '%(holder)s'.") % facts
            advice = f"{suggest(nearest, '')} {otherwise}"
        else:
            advice = _("Correct its name, or put it into '%(holder)s'.") % facts
        accepted = nearest or names or pgettext("accepted names", "none")
        message = _("Unknown argument.")
        problems.append(Problem("unknown", message, pointer, received, accepted, advice))
    return problems


def missing_argument(pointer: str) -> Problem:
    return Problem(
        code="required",
        message=_("This argument is required."),
        pointer=pointer,
        remediation=_("Provide it."),
    )


def not_an_object(value: Any, pointer: str = "") -> Problem:
    return Problem(
        code="invalid",
        message=_("Arguments must be a JSON object."),
        pointer=pointer,
        received=mask_secrets(value),
        accepted=_("a JSON object"),
        remediation=_("Send an object with one member per argument."),
    )


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
        # The only accepted name is not always the suggested one.
        is_suggested = f"'{problem.accepted}'" in problem.remediation
        is_unknown = problem.code == "unknown" and is_suggested
        is_renamed = is_unknown and required.pop(likely, None) is not None
        (renamed if is_renamed else others).append(problem)
    return [*renamed, *required.values(), *others]
