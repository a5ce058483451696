"""Failures that fit: long texts cut, then problems left out from the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from drf_mcp.encoding import encode_data
from drf_mcp.fidelity.digesters import clip
from drf_mcp.outcomes import MISSING, Failure, Fidelity, Outcome, Problem, Severity, Warning

SENTENCE = 500
VALUE = 160


def fit_failure(outcome: Outcome, write: Callable[[Outcome], str], limit: int) -> Outcome:
    """Return a failed outcome with as many of its problems as fit.

    Nothing is archived: whoever corrects the problems shown and calls again is told the
    others. The floor is a failure without problems and context, its texts cut.
    """
    if outcome.failure is None:
        return outcome
    failure = with_short_texts(outcome.failure)
    kept, over = 0, len(failure.problems) + 1
    while kept < over - 1:
        count = (kept + over) // 2
        if len(write(with_problems(outcome, failure, count, limit))) <= limit:
            kept = count
        else:
            over = count
    fitted = with_problems(outcome, failure, kept, limit)
    if len(write(fitted)) > limit and not failure.soft:
        fitted = replace(fitted, data=None)
    if len(write(fitted)) > limit:
        bare = replace(failure, problems=(), context={})
        warnings = fitted.warnings[len(outcome.warnings) :]
        fitted = replace(fitted, failure=bare, warnings=warnings, suggestions=())
    return fitted


def with_problems(outcome: Outcome, failure: Failure, count: int, limit: int) -> Outcome:
    """Return an outcome with the first problems of a failure, and how many there are."""
    total = len(failure.problems)
    told = f"{count} of {total} problems shown" if count < total else "long values cut"
    context = {"dropped_count": total - count, "total_count": total, "reason": "size_limit"}
    message = (
        f"Shortened to fit {limit} characters: {told}. "
        "Correct what is shown, then call again to be told of the rest."
    )
    return replace(
        outcome,
        failure=replace(failure, problems=failure.problems[:count]),
        fidelity=Fidelity("partial"),
        warnings=(*outcome.warnings, Warning("CONTENT_TRUNCATED", message, Severity.INFO, context)),
    )


def with_short_texts(failure: Failure) -> Failure:
    """Return a failure whose texts are no longer than anybody reads."""
    return replace(
        failure,
        message=clip(failure.message, SENTENCE),
        remediation=clip(failure.remediation, SENTENCE),
        problems=tuple(short_problem(problem) for problem in failure.problems),
        context=short_context(failure.context),
    )


def short_problem(problem: Problem) -> Problem:
    """Return a problem whose texts are short."""
    return replace(
        problem,
        message=clip(problem.message, SENTENCE),
        received=short_value(problem.received),
        accepted=None if problem.accepted is None else clip(problem.accepted, SENTENCE),
        remediation=clip(problem.remediation, SENTENCE),
    )


def short_context(context: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a context that are short, or can be cut."""
    short = {name: short_value(value) for name, value in context.items()}
    return {name: value for name, value in short.items() if value is not MISSING}


def short_value(value: Any) -> Any:
    """Return a value that is short; of a long text its beginning, of others nothing."""
    if value is MISSING or len(encode_data(value)) <= VALUE:
        return value
    return clip(value, VALUE) if isinstance(value, str) else MISSING
