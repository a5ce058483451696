"""Everything of an outcome but its answer, made shorter: members beside it, and failures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, takewhile
from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.outcomes import MISSING, Failure, Fidelity, Outcome, Problem, Severity, Warning
from drf_mcp.truncation.paths import Aside, summarise
from drf_mcp.truncation.tokens import clip_text

NAMES = ("telemetry", "meta", "suggestions", "warnings")
"""The members of an outcome that can lose entries."""
LONG_NEXT = 150
"""Arguments of the next page of up to this many tokens always stay."""
SHARES = 5
"""The share of the room that each of the members may keep is one of so many."""
SEVERITIES = (Severity.ERROR, Severity.WARNING, Severity.INFO)
# Characters that a sentence, and another value, of a failure keeps.
SENTENCE = 500
VALUE = 160


class MetadataCutter:
    """Cuts what stands beside the data: each member that is long keeps a fixed share.

    Args:
        measure: gives the tokens of the envelope of an outcome.
        encode: writes a value as REST framework's JSON encoder does.
        count: gives the tokens of a text.
    """

    def __init__(
        self,
        measure: Callable[[Outcome], int],
        encode: Callable[[Any], str],
        count: Callable[[str], int],
    ) -> None:
        self.measure = measure
        self.encode = encode
        self.count = count

    def cut(self, outcome: Outcome, room: int) -> tuple[Outcome, tuple[Aside, ...]]:
        """Return an outcome whose longest members kept a share of the room, and what it lost.

        Args:
            outcome: any outcome.
            room: the tokens that the envelope without data and problems may take.
        """
        asides: list[Aside] = []
        for name in sorted(NAMES, key=lambda name: -self.get_length(outcome, name)):
            if self.fits(outcome, room):
                return outcome, tuple(asides)
            entries = self.get_entries(outcome, name)
            count, total = self.count_within(entries, room // SHARES), len(entries)
            if count < total:
                members = dict if isinstance(getattr(outcome, name), Mapping) else tuple
                outcome = outcome.changed(**{name: members(entries[:count])})
                asides.append(Aside(name, to_json(entries[count:]), total - count, total))
        page = outcome.pagination
        long = page is not None and self.count(self.encode(page.next)) > LONG_NEXT
        if page is not None and long and not self.fits(outcome, room):
            asides.append(Aside("next", page.next, 1, 1))
            outcome = outcome.changed(pagination=replace(page, next=None))
        return outcome, tuple(asides)

    def fits(self, outcome: Outcome, room: int) -> bool:
        """Return whether an outcome without data, problems and context takes no more tokens."""
        failure = outcome.failure
        if failure is not None:
            failure = without_context(failure)
        return self.measure(outcome.changed(data=None, body=None, failure=failure)) <= room

    def count_within(self, entries: Sequence[Any], room: int) -> int:
        """Return how many of the first entries take no more tokens than the room."""
        lengths = accumulate(self.count(self.encode(to_json([entry]))) for entry in entries)
        return sum(1 for _ in takewhile(lambda length: length <= room, lengths))

    def get_length(self, outcome: Outcome, name: str) -> int:
        """Return the length of a member of an outcome, as JSON."""
        return len(self.encode(to_json(self.get_entries(outcome, name))))

    def get_entries(self, outcome: Outcome, name: str) -> Sequence[Any]:
        """Return the entries of a member of an outcome, those to be kept longest first."""
        value = getattr(outcome, name)
        if isinstance(value, Mapping):
            return sorted(value.items(), key=lambda entry: len(self.encode(entry[1])))
        if name == "warnings":
            return sorted(value, key=lambda warning: SEVERITIES.index(warning.severity))
        return tuple(value)


class FailureCutter(MetadataCutter):
    """Cuts failed outcomes: long texts first, then problems from the last.

    Nothing is archived: whoever corrects the problems shown and calls again gets the others.
    """

    def cut(  # type: ignore[override]
        self, outcome: Outcome, room: int, limit: int
    ) -> Outcome:
        """Return a failed outcome with as many of its problems as fit; its answer stays.

        The floor is a failure without problems and context, its texts cut.

        Args:
            outcome: any outcome that failed.
            room: how many tokens the failure may take.
            limit: how many the result may take.
        """
        if outcome.failure is None:
            return outcome
        answer = outcome.data if outcome.failure.soft else None
        if answer is not None and self.measure(outcome.changed(data=None)) <= room:
            return outcome
        failure = self.with_short_texts(outcome.failure)
        # Of a hard failure the problems say what its body says, and can be shown in part.
        data = None if failure.soft or failure.problems else outcome.data
        shorter = failure != outcome.failure
        outcome, asides = super().cut(outcome.changed(failure=failure, data=data), room // 2)
        losses = [aside.loss for aside in asides]
        if shorter:
            losses.insert(0, _("long values cut"))

        def with_problems(count: int) -> Outcome:
            return outcome.changed(
                failure=replace(failure, problems=failure.problems[:count]),
                fidelity=Fidelity("partial"),
                warnings=(*outcome.warnings, self.warn(limit, count, failure, losses)),
            )

        low, high = 0, len(failure.problems) + 1
        while low < high - 1:
            count = (low + high) // 2
            if self.measure(with_problems(count)) <= room:
                low = count
            else:
                high = count
        outcome = self.without_context(with_problems(low), room)
        return outcome if answer is None else outcome.changed(data=answer)

    def warn(self, limit: int, count: int, failure: Failure, losses: Sequence[str]) -> Warning:
        """Return the warning that a failure lacks something."""
        total = len(failure.problems)
        parts, sentences = list(losses), []
        if count < total:
            shown = _("%(count)d of %(total)d problems shown") % {"count": count, "total": total}
            parts.insert(0, shown)
            sentences = [_("Correct these problems, then call again for the rest.")]
        parts = parts or [_("long values cut")]
        message = " ".join([summarise(parts, limit), *sentences])
        context = {
            "dropped_count": total - count,
            "total_count": total,
            "reason": "token_limit_exceeded",
        }
        return Warning("CONTENT_TRUNCATED", message, Severity.INFO, context)

    def without_context(self, outcome: Outcome, room: int) -> Outcome:
        """Return an outcome with less and less around the failure's message, until it fits."""
        if self.measure(outcome) > room:
            outcome = outcome.changed(data=None)
        failure = outcome.failure
        if failure is not None and self.measure(outcome) > room:
            failure = without_context(failure)
            beside: dict[str, Any] = {"telemetry": {}, "meta": {}, "suggestions": ()}
            outcome = outcome.changed(failure=failure, warnings=outcome.warnings[-1:], **beside)
            if self.measure(outcome) > room:
                outcome = outcome.changed(failure=self.with_short_texts(failure, VALUE))
        return outcome

    def with_short_texts(self, failure: Failure, length: int = SENTENCE) -> Failure:
        """Return a failure whose texts are no longer than anybody reads."""
        return replace(
            failure,
            code=failure.code[:VALUE],
            message=clip_text(failure.message, length),
            remediation=clip_text(failure.remediation, length),
            problems=tuple(map(self.shorten_problem, failure.problems)),
            context=self.shorten_context(failure.context),
            details=self.shorten_context(failure.details),
            data=None if failure.data is None else self.shorten_context(failure.data),
        )

    def shorten_problem(self, problem: Problem) -> Problem:
        """Return a problem whose texts are short."""
        return replace(
            problem,
            message=clip_text(problem.message, SENTENCE),
            received=self.shorten_value(problem.received),
            accepted=None if problem.accepted is None else clip_text(problem.accepted, SENTENCE),
            remediation=clip_text(problem.remediation, SENTENCE),
        )

    def shorten_context(self, context: Mapping[str, Any]) -> dict[str, Any]:
        """Return the members of a context that are short, or can be cut."""
        short = {name: self.shorten_value(value) for name, value in context.items()}
        return {name: value for name, value in short.items() if value is not MISSING}

    def shorten_value(self, value: Any) -> Any:
        """Return a value that is short; of a long text its beginning, of others nothing."""
        if value is MISSING or len(self.encode(value)) <= VALUE:
            return value
        return clip_text(value, VALUE) if isinstance(value, str) else MISSING


def without_context(failure: Failure) -> Failure:
    """Return a failure of which the code, the message and the remediation are left."""
    return replace(failure, problems=(), context={}, details={}, data=None)


def to_json(entries: Sequence[Any]) -> Any:
    """Return entries as JSON, a warning as one of ``warning_details``."""
    if entries and isinstance(entries[0], tuple):
        return dict(entries)
    return [describe(entry) if isinstance(entry, Warning) else entry for entry in entries]


def describe(warning: Warning) -> dict[str, Any]:
    """Return a warning as one of ``warning_details``."""
    entry = {"code": warning.code, "severity": warning.severity.value, "message": warning.message}
    more = {"context": dict(warning.context), "remediation": warning.remediation}
    return entry | {name: value for name, value in more.items() if value}
