"""Failures that fit: long texts cut, then problems left out from the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from drf_mcp.outcomes import MISSING, Failure, Fidelity, Outcome, Problem, Severity, Warning
from drf_mcp.truncation.digests import clip
from drf_mcp.truncation.metadata import Encode, Metadata, most
from drf_mcp.truncation.report import TRUNCATED

SENTENCE = 500
VALUE = 160


class FailureFitter:
    """Fits failed outcomes.

    Nothing is archived: whoever corrects the problems shown and calls again is told the
    others.

    Args:
        write: renders and encodes the envelope exactly as it is sent.
        encode: writes a value as REST framework's JSON encoder does.
        limit: the size that the result has to fit, in characters.
    """

    def __init__(self, write: Callable[[Outcome], str], encode: Encode, limit: int) -> None:
        self.write = write
        self.encode = encode
        self.limit = limit

    def fit(self, outcome: Outcome, room: int) -> Outcome:
        """Return a failed outcome with as many of its problems as fit.

        The floor is a failure without problems and context, its texts cut.

        Args:
            outcome: any outcome.
            room: how much of the limit the failure may take.
        """
        if outcome.failure is None:
            return outcome
        failure = self.with_short_texts(outcome.failure)
        cut = failure != outcome.failure
        # Of a hard failure the problems say what its body says, and can be shown in part.
        data = outcome.data if failure.soft or not failure.problems else None
        outcome = outcome.changed(failure=failure, data=data)
        outcome, asides = Metadata(self.write, self.encode).shorten(outcome, room // 2)
        total = len(failure.problems)

        def with_problems(count: int) -> Outcome:
            told = [aside.told for aside in asides]
            warning = shortening(self.limit, count, total, told, cut=cut)
            return outcome.changed(
                failure=replace(failure, problems=failure.problems[:count]),
                fidelity=Fidelity("partial"),
                warnings=(*outcome.warnings, warning),
            )

        # With all of them or not: `most` takes its total for too many.
        count = most(total + 1, lambda n: len(self.write(with_problems(n))) <= room)
        return self.without_context(with_problems(count), failure, room)

    def without_context(self, fitted: Outcome, failure: Failure, room: int) -> Outcome:
        """Return an outcome with less and less around the failure's message, until it fits."""
        if len(self.write(fitted)) > room and not failure.soft:
            fitted = fitted.changed(data=None)
        if len(self.write(fitted)) > room:
            bare = replace(failure, problems=(), context={}, details={}, data=None)
            beside: dict[str, Any] = {"telemetry": {}, "meta": {}, "suggestions": ()}
            fitted = fitted.changed(failure=bare, warnings=fitted.warnings[-1:], **beside)
            if len(self.write(fitted)) > room:
                fitted = fitted.changed(failure=self.with_short_texts(bare, VALUE))
        return fitted

    def with_short_texts(self, failure: Failure, length: int = SENTENCE) -> Failure:
        """Return a failure whose texts are no longer than anybody reads."""
        return replace(
            failure,
            code=failure.code[:VALUE],
            message=clip(failure.message, length),
            remediation=clip(failure.remediation, length),
            problems=tuple(map(self.short_problem, failure.problems)),
            context=self.short_context(failure.context),
            details=self.short_context(failure.details),
            data=None if failure.data is None else self.short_context(failure.data),
        )

    def short_problem(self, problem: Problem) -> Problem:
        """Return a problem whose texts are short."""
        return replace(
            problem,
            message=clip(problem.message, SENTENCE),
            received=self.short_value(problem.received),
            accepted=None if problem.accepted is None else clip(problem.accepted, SENTENCE),
            remediation=clip(problem.remediation, SENTENCE),
        )

    def short_context(self, context: Mapping[str, Any]) -> dict[str, Any]:
        """Return the members of a context that are short, or can be cut."""
        short = {name: self.short_value(value) for name, value in context.items()}
        return {name: value for name, value in short.items() if value is not MISSING}

    def short_value(self, value: Any) -> Any:
        """Return a value that is short; of a long text its beginning, of others nothing."""
        if value is MISSING or len(self.encode(value)) <= VALUE:
            return value
        return clip(value, VALUE) if isinstance(value, str) else MISSING


def shortening(limit: int, count: int, total: int, told: Sequence[str], *, cut: bool) -> Warning:
    """Return the warning that a failure lacks something.

    Args:
        limit: the size that it fits, in characters.
        count: how many problems are shown.
        total: how many there are.
        told: what else is missing, in words.
        cut: True if values were cut.
    """
    parts = [f"{count} of {total} problems shown"] if count < total else []
    parts += [*(["long values cut"] if cut else []), *told]
    message = f"Shortened to fit {limit} characters: {', '.join(parts or ['long values cut'])}."
    if count < total:
        message += " Correct what is shown, then call again to be told of the rest."
    context = {"dropped_count": total - count, "total_count": total, "reason": "size_limit"}
    return Warning(TRUNCATED, message, Severity.INFO, context)
