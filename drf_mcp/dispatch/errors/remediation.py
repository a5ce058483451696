"""What a model can do about a failure: one sentence for each.

A sentence has to be right for every cause that leads to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drf_mcp.codes import HANDLING
from drf_mcp.outcomes import Category, Problem

PROBLEM_REMEDIES = {
    "required": "Provide {name}.",
    "null": "Send a value other than null for {name}.",
    "blank": "Send a non-empty text for {name}.",
    "empty": "Do not send {name} empty.",
    "invalid_choice": "Use one of the accepted values for {name}.",
    "max_length": "Shorten {name}.",
    "min_length": "Lengthen {name}.",
    "max_value": "Use a smaller value for {name}.",
    "min_value": "Use a larger value for {name}.",
    "max_digits": "Use fewer digits for {name}.",
    "max_whole_digits": "Use fewer digits before the decimal point for {name}.",
    "max_decimal_places": "Use fewer decimal places for {name}.",
    "max_string_length": "Use fewer digits for {name}.",
    "invalid_image": "Send an image for {name}.",
    "invalid_extension": "Send a file of an accepted type for {name}.",
    "unique": "Use another value for {name}; this one is taken.",
    "does_not_exist": "Use the identifier of an existing object for {name}.",
    "incorrect_type": "Send an identifier of the accepted type for {name}.",
    "not_a_list": "Send a JSON array for {name}.",
    "not_a_dict": "Send a JSON object for {name}.",
}
WHOLE_REMEDIES = {
    "null": "Provide the arguments.",
    "unique": "Use another combination of values; this one is taken.",
}
"""Where no argument alone is wrong."""

FILE_REMEDIES = {
    "max_length": "Shorten the file name of {name}.",
    "empty": "Send a file that is not empty for {name}.",
}
"""Where the argument is a file."""

OPTIONAL_NULL = "Send a value other than null for {name}, or leave it out."

CODE_REMEDIES = {
    "INVALID_FORMAT": "Correct the format of the arguments and call again.",
    "METHOD_NOT_ALLOWED": "This operation does not exist here; use another tool.",
    "CONFLICT": "Read the object's current state, then decide whether the call still makes sense.",
    "DUPLICATE_ENTRY": "The object exists already; use it, or choose other values.",
}


@dataclass(frozen=True)
class Advice:
    """What to do about a failure.

    Attributes:
        text: one sentence.
        recoverable: False where no call can mend it; None as the category says.
    """

    text: str
    recoverable: bool | None = None


NOT_SENT = Advice(
    "Do not repeat the call: the API asks for a header or a protocol that this tool does not send."
    " Report it.",
    recoverable=False,
)
UNKNOWN_EFFECT = Advice(
    "Find out whether the call took effect; if it did not, try again later.", recoverable=True
)
STATUS_ADVICE: Mapping[int, Advice] = {
    402: Advice("Do not repeat the call: it needs a payment, or another plan.", False),
    405: Advice(CODE_REMEDIES["METHOD_NOT_ALLOWED"]),
    406: Advice(
        "Do not repeat the call: the API cannot answer in a form that tools read. Report it.", False
    ),
    408: UNKNOWN_EFFECT,
    410: Advice("It is gone for good: do not ask for it again.", False),
    411: NOT_SENT,
    412: Advice(CODE_REMEDIES["CONFLICT"]),
    413: Advice("Send less: shorter texts, smaller files or fewer items."),
    414: Advice("Send shorter values: they have no room in a URL."),
    415: Advice(
        "Where an argument is a file, send one of a type that is accepted. Otherwise do not repeat"
        " the call: the API does not take what this tool sends."
    ),
    416: Advice("Ask for a part that exists."),
    417: NOT_SENT,
    421: NOT_SENT,
    423: Advice("Wait until the object is no longer locked, then call again."),
    424: Advice("Mend what failed before, then call again."),
    425: Advice("Wait, then call again."),
    426: NOT_SENT,
    428: NOT_SENT,
    431: NOT_SENT,
    451: Advice("Do not repeat the call: the answer is withheld for legal reasons.", False),
    501: Advice("Do not repeat the call: the API does not offer this. Use another tool.", False),
    502: UNKNOWN_EFFECT,
    504: UNKNOWN_EFFECT,
    505: NOT_SENT,
    511: NOT_SENT,
}
"""By the HTTP status, where neither the arguments nor the code tell more."""

BY_CATEGORY = frozenset({400, 401, 403, 404, 405, 409, 422, 429})
"""Statuses below 500 for which the advice of their category, or code, is right."""

UNKNOWN_STATUS = Advice("Do what the message asks for before calling again.")
UNWRITABLE = Advice(
    "Do not repeat the call: it may have taken effect, and its answer cannot be written. Report the"
    " request id.",
    recoverable=False,
)


def status_advice(status: int) -> Advice | None:
    """Return what to do about an HTTP status; None where the category says it."""
    known = STATUS_ADVICE.get(status)
    if known is None and 400 <= status < 500 and status not in BY_CATEGORY:
        return UNKNOWN_STATUS
    return known


def problem_remedy(problem: Problem, *, optional: bool = False, is_file: bool = False) -> str:
    """Return what to do about one problem.

    Args:
        problem: the problem.
        optional: True if the argument may be left out.
        is_file: True if the argument is a file.
    """
    text = PROBLEM_REMEDIES.get(problem.code, "Correct {name}.")
    if problem.code == "null" and optional:
        text = OPTIONAL_NULL
    if is_file:
        text = FILE_REMEDIES.get(problem.code, text)
    if not problem.path:
        text = WHOLE_REMEDIES.get(problem.code, text)
    text = text.format(name=f"'{problem.path}'" if problem.path else "the arguments")
    if problem.accepted is None or problem.code == "unique":
        return text
    return f"{text} Accepted: {problem.accepted}."


def remedy(
    code: str,
    category: Category,
    problems: Sequence[Problem],
    context: Mapping[str, Any],
    advice: Advice | None = None,
) -> str:
    """Return what to do about a failure.

    Args:
        code: the error code.
        category: the kind of failure.
        problems: what is wrong with the arguments; the first one decides.
        context: may hold ``retry_after_seconds``.
        advice: that of the HTTP status; None where it has none of its own.
    """
    seconds = context.get("retry_after_seconds")
    if seconds is not None:
        return f"Wait {seconds} second{'' if seconds == 1 else 's'} before calling again."
    if problems and category in (Category.VALIDATION, Category.CONFLICT):
        return problems[0].remediation
    if advice is not None:
        return advice.text
    return CODE_REMEDIES.get(code, HANDLING[category].remediation)
