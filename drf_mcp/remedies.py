"""What a model can do about a failure: one sentence for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drf_mcp.outcomes import Category, Problem
from drf_mcp.vocabulary import HANDLING

PROBLEM_REMEDIES = {
    "required": "Provide {name}.",
    "null": "Send a value other than null for {name}, or leave it out.",
    "blank": "Send a non-empty text for {name}.",
    "empty": "Send at least one item for {name}.",
    "invalid_choice": "Use one of the accepted values for {name}.",
    "max_length": "Shorten {name}.",
    "min_length": "Lengthen {name}.",
    "max_value": "Use a smaller value for {name}.",
    "min_value": "Use a larger value for {name}.",
    "max_digits": "Use fewer digits for {name}.",
    "max_decimal_places": "Use fewer decimal places for {name}.",
    "unique": "Use another value for {name}; this one is taken.",
    "does_not_exist": "Use the identifier of an existing object for {name}.",
    "incorrect_type": "Send an identifier of the accepted type for {name}.",
    "not_a_list": "Send a JSON array for {name}.",
    "not_a_dict": "Send a JSON object for {name}.",
}
CODE_REMEDIES = {
    "INVALID_FORMAT": "Correct the format of the arguments and call again.",
    "METHOD_NOT_ALLOWED": "This operation does not exist here; use another tool.",
    "CONFLICT": "Read the object's current state, then decide whether the call still makes sense.",
    "DUPLICATE_ENTRY": "The object exists already; use it, or choose other values.",
}


def problem_remedy(problem: Problem) -> str:
    """Return what to do about one problem."""
    name = f"'{problem.path}'" if problem.path else "the arguments"
    text = PROBLEM_REMEDIES.get(problem.code, "Correct {name}.").format(name=name)
    if problem.accepted is None or problem.code == "unique":
        return text
    return f"{text} Accepted: {problem.accepted}."


def remedy(
    code: str, category: Category, problems: Sequence[Problem], context: Mapping[str, Any]
) -> str:
    """Return what to do about a failure.

    Args:
        code: the error code.
        category: the kind of failure.
        problems: what is wrong with the arguments; the first one decides.
        context: may hold ``retry_after_seconds``.
    """
    seconds = context.get("retry_after_seconds")
    if seconds is not None:
        return f"Wait {seconds} second{'' if seconds == 1 else 's'} before calling again."
    if problems and category in (Category.VALIDATION, Category.CONFLICT):
        return problems[0].remediation
    return CODE_REMEDIES.get(code, HANDLING[category].remediation)
