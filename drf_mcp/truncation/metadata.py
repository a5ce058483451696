"""Shortens the members of an outcome other than its data, and failures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile
from typing import Any

from drf_mcp.outcomes import (
    MISSING,
    Category,
    Failure,
    Fidelity,
    Outcome,
    Problem,
    Severity,
    Warning,
)
from drf_mcp.truncation.tokens import clip_text

# The members of an outcome that can lose entries.
OMITTED = {
    "telemetry": "%(count)s of %(total)s telemetry entries left out",
    "meta": "%(count)s of %(total)s meta entries left out",
    "suggestions": "%(count)s of %(total)s suggestions left out",
    "warnings": "%(count)s of %(total)s warnings left out",
}
# The phrase of each loss.
LOSSES = {
    **OMITTED,
    "next": "the arguments of the next page left out",
    "details": "the details of %(count)s of %(total)s warnings left out",
}
# Each of them may keep a fifth of the room.
SHARE = 5
# Arguments of the next page of up to this many tokens always stay.
MAX_NEXT_TOKENS = 150
SEVERITIES = (Severity.ERROR, Severity.WARNING, Severity.INFO)
# Characters that a sentence, and another value, of a failure keeps.
MAX_SENTENCE, MAX_VALUE = 500, 160
# A longer value in the context of a warning goes where there is no room.
MAX_DETAILS = 500
MAX_NAMES = 50
# Longer than any count.
MOST = 999_999
LEVELS = ("full", "partial", "summary", "reference_only")


@dataclass(frozen=True)
class OmittedMetadata:
    """The entries that a member of an outcome other than the data has lost.

    Attributes:
        name: the member.
        value: the lost entries, as JSON.
        count: the number of lost entries.
        total: the number of entries that the member had.
    """

    name: str
    value: Any
    count: int
    total: int

    @property
    def loss(self) -> str:
        """A phrase for `summarise`."""
        return LOSSES[self.name] % {"count": self.count, "total": self.total}


def summarise(losses: Iterable[str], limit: int) -> str:
    """Return the sentence that says what was lost, and why."""
    return f"{', '.join(losses)}, to fit {limit} tokens."


class MetadataCutter:
    """Cuts the members of an outcome other than its data to a fixed share each.

    Args:
        measure: returns the tokens of the envelope of an outcome.
        encode: writes a value as REST framework's JSON encoder does.
        count: returns the tokens of a text.
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

    def cut(self, outcome: Outcome, room: int) -> tuple[Outcome, tuple[OmittedMetadata, ...]]:
        """Cut the longest members first, until the envelope without the data fits the room."""
        if self._fits(outcome, room):
            return outcome, ()
        outcome, omitted = self._cut_details(outcome)
        entries = {name: self._sort_entries(outcome, name) for name in OMITTED}
        lengths = {name: len(self.encode(to_json(entries[name]))) for name in OMITTED}
        for name in sorted(OMITTED, key=lambda name: -lengths[name]):
            if self._fits(outcome, room):
                return outcome, tuple(omitted)
            sizes = accumulate(self.count(self.encode(to_json([each]))) for each in entries[name])
            count = sum(1 for _ in takewhile(lambda size: size <= room // SHARE, sizes))
            kept, lost = entries[name][:count], entries[name][count:]
            if lost:
                members = dict if isinstance(getattr(outcome, name), Mapping) else tuple
                outcome = outcome.changed(**{name: members(kept)})
                total = len(entries[name])
                omitted.append(OmittedMetadata(name, to_json(lost), len(lost), total))
        page = outcome.pagination
        is_long = page is not None and self.count(self.encode(page.next)) > MAX_NEXT_TOKENS
        if page is not None and is_long and not self._fits(outcome, room):
            omitted.append(OmittedMetadata("next", page.next, 1, 1))
            outcome = outcome.changed(pagination=replace(page, next=None))
        return outcome, tuple(omitted)

    def _cut_details(self, outcome: Outcome) -> tuple[Outcome, list[OmittedMetadata]]:
        # A warning without its long details says more than none.
        whole, short = outcome.warnings, tuple(map(self._shorten_warning, outcome.warnings))
        lost = [each for each, kept in zip(whole, short, strict=True) if each != kept]
        if not lost:
            return outcome, []
        omitted = OmittedMetadata("details", to_json(lost), len(lost), len(whole))
        return outcome.changed(warnings=short), [omitted]

    def _shorten_warning(self, warning: Warning) -> Warning:
        context = {n: v for n, v in warning.context.items() if len(self.encode(v)) <= MAX_DETAILS}
        if len(context) == len(warning.context):
            return warning
        problems = tuple(replace(each, context={}) for each in warning.problems)
        return replace(warning, context=context, problems=problems)

    def _sort_entries(self, outcome: Outcome, name: str) -> Sequence[Any]:
        # The last entries are lost first: long ones, and warnings that are least serious.
        value = getattr(outcome, name)
        if isinstance(value, Mapping):
            return sorted(value.items(), key=lambda entry: len(self.encode(entry[1])))
        if name == "warnings":
            return sorted(value, key=lambda warning: SEVERITIES.index(warning.severity))
        return tuple(value)

    def _fits(self, outcome: Outcome, room: int) -> bool:
        failure = outcome.failure
        if failure is not None:
            failure = _without_context(failure)
        return self.measure(outcome.changed(data=None, failure=failure)) <= room


class FailureCutter(MetadataCutter):
    """Cuts failed outcomes: long texts and members first, then problems from the last.

    Args:
        next_call: the sentence with the call that fetches what is left out, "" for none.
        fidelity: names what is left out.
    """

    def __init__(
        self,
        measure: Callable[[Outcome], int],
        encode: Callable[[Any], str],
        count: Callable[[str], int],
        next_call: str = "",
        fidelity: Fidelity | None = None,
    ) -> None:
        super().__init__(measure, encode, count)
        self.next_call = next_call
        self.fidelity = fidelity or Fidelity("partial")

    def cut_failure(
        self, outcome: Outcome, room: int, limit: int
    ) -> tuple[Outcome, dict[str, Any]]:
        """Return an outcome with as many of its problems as fit, and the members that are cut.

        A soft failure keeps its data. Problems that the next call gives again are no such member.

        Args:
            outcome: any outcome that failed.
            room: the tokens of the failure.
            limit: the tokens of the result, for the warning.
        """
        whole = outcome
        if outcome.failure is None:
            return outcome, {}
        answer = outcome.data if outcome.failure.soft else None
        if answer is not None and self.measure(outcome.changed(data=None)) <= room:
            return outcome, {}
        failure = self._clip_texts(outcome.failure)
        # The problems of a hard failure say what its body says, and can be shown in part.
        data = None if failure.soft or failure.problems else outcome.data
        losses = ["long values cut"] if failure != outcome.failure else []
        outcome, omitted = self.cut(outcome.changed(failure=failure, data=data), room // 2)
        losses += [each.loss for each in omitted]

        def with_problems(count: int) -> Outcome:
            return outcome.changed(
                failure=replace(failure, problems=failure.problems[:count]),
                fidelity=add_fidelity(outcome.fidelity, self.fidelity),
                warnings=(*outcome.warnings, self._warn(limit, count, failure, losses)),
            )

        low, high = 0, len(failure.problems) + 1
        while low < high - 1:
            count = (low + high) // 2
            if self.measure(with_problems(count)) <= room:
                low = count
            else:
                high = count
        outcome = self._drop_context(with_problems(low), room)
        outcome = outcome if answer is None else outcome.changed(data=answer)
        return _count_lost(whole, outcome)

    def _warn(self, limit: int, count: int, failure: Failure, losses: Sequence[str]) -> Warning:
        total = len(failure.problems)
        parts, sentences = list(losses), []
        if count < total:
            shown = f"{count} of {total} problems shown"
            parts.insert(0, shown)
            if gives_again(failure):
                sentences = ["Correct these problems, then call again for the rest."]
        summary = summarise(parts or ["long values cut"], limit)
        message = " ".join(filter(None, [summary, *sentences, self.next_call]))
        # The counts follow, see `_count_lost`.
        counts = {"dropped_count": MOST, "total_count": MOST}
        context = {**counts, "reason": "token_limit_exceeded"}
        return Warning("CONTENT_TRUNCATED", message, Severity.INFO, context, summary=summary)

    def _drop_context(self, outcome: Outcome, room: int) -> Outcome:
        # Step by step, until it fits: the code, the message and the remediation are the floor.
        if self.measure(outcome) > room:
            outcome = outcome.changed(data=None)
        failure = outcome.failure
        if failure is not None and self.measure(outcome) > room:
            failure = _without_context(failure)
            empty: dict[str, Any] = {"telemetry": {}, "meta": {}, "suggestions": ()}
            outcome = outcome.changed(failure=failure, warnings=outcome.warnings[-1:], **empty)
            if self.measure(outcome) > room:
                outcome = outcome.changed(failure=self._clip_texts(failure, MAX_VALUE))
        return outcome

    def _clip_texts(self, failure: Failure, length: int = MAX_SENTENCE) -> Failure:
        return replace(
            failure,
            code=failure.code[:MAX_VALUE],
            message=clip_text(failure.message, length),
            remediation=clip_text(failure.remediation, length),
            problems=tuple(map(self._clip_problem, failure.problems)),
            context=self._clip_context(failure.context),
            details=self._clip_context(failure.details),
            data=None if failure.data is None else self._clip_context(failure.data),
        )

    def _clip_problem(self, problem: Problem) -> Problem:
        accepted = problem.accepted
        return replace(
            problem,
            message=clip_text(problem.message, MAX_SENTENCE),
            received=self._clip_value(problem.received),
            accepted=None if accepted is None else clip_text(accepted, MAX_SENTENCE),
            remediation=clip_text(problem.remediation, MAX_SENTENCE),
            context=self._clip_context(problem.context),
        )

    def _clip_context(self, context: Mapping[str, Any]) -> dict[str, Any]:
        short = {name: self._clip_value(value) for name, value in context.items()}
        return {name: value for name, value in short.items() if value is not MISSING}

    def _clip_value(self, value: Any) -> Any:
        # A long value that is no text is left out.
        if value is MISSING or len(self.encode(value)) <= MAX_VALUE:
            return value
        return clip_text(value, MAX_VALUE) if isinstance(value, str) else MISSING


def _count_lost(whole: Outcome, cut: Outcome) -> tuple[Outcome, dict[str, Any]]:
    """Return a cut failure whose warning counts what it lost, and the members that lost it."""
    before, after = whole.failure, cut.failure
    assert before is not None
    assert after is not None
    names = ("message", "remediation", "context", "details", "data")
    lost = {n: getattr(before, n) for n in names if getattr(before, n) != getattr(after, n)}
    for name in OMITTED:
        kept, entries = list(getattr(cut, name)), getattr(whole, name)
        if any(each not in kept for each in entries):
            lost[name] = to_json([*entries.items()] if isinstance(entries, Mapping) else entries)
    total, shown = len(before.problems), len(after.problems)
    is_clipped = before.problems[:shown] != after.problems
    if is_clipped or (shown < total and not gives_again(before)):
        lost["problems"] = list(map(_describe_problem, before.problems))
    # Problems and context say what their body says.
    if whole.data is not None and cut.data is None and not (lost or before.problems):
        lost["body"] = whole.data
    *others, last = cut.warnings
    count = total - shown + len(lost.keys() - {"problems"}) + is_clipped
    counts = {"dropped_count": count, "total_count": max(total, count)}
    counted = replace(last, context={**last.context, **counts})
    return cut.changed(warnings=(*others, counted)), lost


def _describe_problem(problem: Problem) -> dict[str, Any]:
    entry = {"code": problem.code, "message": problem.message}
    names = ("pointer", "accepted", "remediation", "context")
    more = {name: getattr(problem, name) for name in names}
    return entry | {name: value for name, value in more.items() if value}


def gives_again(failure: Failure) -> bool:
    """Return whether the next call gives the problems that are left out, once others are mended."""
    return not failure.soft and failure.category is Category.VALIDATION


def add_fidelity(own: Fidelity | None, ours: Fidelity) -> Fidelity:
    """Return what is left of an answer that the view itself shortened."""
    if own is None:
        return ours
    level = max(own.level, ours.level, key=LEVELS.index)
    dropped = (*own.dropped[:MAX_NAMES], *ours.dropped)
    return Fidelity(level, dropped, {**own.archives, **ours.archives}, own.version)


def _without_context(failure: Failure) -> Failure:
    return replace(failure, problems=(), context={}, details={}, data=None, body=None)


def to_json(entries: Sequence[Any]) -> Any:
    """Return entries as JSON, a warning as one of ``warning_details``."""
    if entries and isinstance(entries[0], tuple):
        return dict(entries)
    return [_describe_warning(each) if isinstance(each, Warning) else each for each in entries]


def _describe_warning(warning: Warning) -> dict[str, Any]:
    entry = {"code": warning.code, "severity": warning.severity.value, "message": warning.message}
    more = {"context": dict(warning.context), "remediation": warning.remediation}
    return entry | {name: value for name, value in more.items() if value}
