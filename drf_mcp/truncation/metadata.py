"""Shortens the members of an outcome other than its data, and failures."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile
from typing import Any

from drf_mcp.outcomes import (
    FIDELITY_LEVELS,
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

# The members of an outcome that can lose entries, and what their entries are called.
OMITTED = {
    "telemetry": "telemetry entries",
    "meta": "meta entries",
    "suggestions": "suggestions",
    "warnings": "warnings",
}
MAPPINGS = frozenset({"telemetry", "meta"})
PROBLEMS, CUT = "problems", "long values cut"
NEXT = "the arguments of the next page left out"
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


@dataclass(frozen=True)
class OmittedMetadata:
    """The entries, as JSON, that a member of an outcome other than the data has lost."""

    name: str
    value: Any
    count: int
    total: int
    # A phrase of the warning.
    loss: str

    @classmethod
    def of(cls, name: str, value: Any, count: int, total: int) -> OmittedMetadata:
        return cls(name, value, count, total, f"{count} of {total} {OMITTED[name]} left out")


class MetadataCutter:
    """Cuts the members of an outcome other than its data to a fixed share each."""

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
                omitted.append(OmittedMetadata.of(name, to_json(lost), len(lost), total))
        page = outcome.pagination
        is_long = page is not None and self.count(self.encode(page.next)) > MAX_NEXT_TOKENS
        if page is not None and is_long and not self._fits(outcome, room):
            omitted.append(OmittedMetadata("next", page.next, 1, 1, NEXT))
            outcome = outcome.changed(pagination=replace(page, next=None))
        return outcome, tuple(omitted)

    def _cut_details(self, outcome: Outcome) -> tuple[Outcome, list[OmittedMetadata]]:
        # A warning without its long details says more than none.
        whole, short = outcome.warnings, tuple(map(self._shorten_warning, outcome.warnings))
        lost = [each for each, kept in zip(whole, short, strict=True) if each != kept]
        if not lost:
            return outcome, []
        return outcome.changed(warnings=short), [_omit_details(lost, len(whole))]

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
        failure = outcome.failure and _without_context(outcome.failure)
        return self.measure(outcome.changed(data=None, failure=failure)) <= room


class FailureCutter(MetadataCutter):
    """Cuts failed outcomes: long texts and members first, then problems from the last.

    The code, the message and the remediation are the floor.
    """

    def cut_failure(self, outcome: Outcome, room: int, fits: Callable[[Outcome], bool]) -> Outcome:
        """Return an outcome with as many of its problems as fit.

        Args:
            outcome: an outcome that failed.
            room: the tokens of the failure.
            fits: returns whether an outcome fits, together with a report of what it lost.
        """
        assert outcome.failure is not None
        failure = self._clip_texts(outcome.failure)
        # The problems of a hard failure say what its body says, and can be shown in part.
        data = None if failure.soft or failure.problems else outcome.data
        base = self.cut(outcome.changed(failure=failure, data=data), room // 2)[0]
        total = len(failure.problems)

        def shorten(step: int) -> Outcome:
            shown = replace(failure, problems=failure.problems[: max(total - step, 0)])
            cut = base.changed(failure=shown)
            if step > total:
                cut = cut.changed(data=None)
            if step > total + 1:
                empty: dict[str, Any] = {"telemetry": {}, "meta": {}, "suggestions": ()}
                cut = cut.changed(failure=_without_context(failure), warnings=(), **empty)
            if step > total + 2:
                cut = cut.changed(failure=self._clip_texts(_without_context(failure), MAX_VALUE))
            return cut

        # Each step is shorter than the one before.
        steps = range(total + 3)
        return shorten(bisect_left(steps, True, key=lambda step: fits(shorten(step))))

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


def find_lost(whole: Outcome, cut: Outcome) -> tuple[OmittedMetadata, ...]:
    """Return what a failed outcome has lost; the value of problems that come again is None."""
    before, after = whole.failure, cut.failure
    assert before is not None
    assert after is not None
    lost = []
    total, shown = len(before.problems), len(after.problems)
    is_clipped = before.problems[:shown] != after.problems
    if is_clipped or shown < total:
        names = ("code", "message", "pointer", "accepted", "remediation", "context")
        value: Any = [
            {name: getattr(each, name) for name in names if getattr(each, name)}
            for each in before.problems
        ]
        # The next call gives them again, once others are mended.
        if before.category is Category.VALIDATION and not (before.soft or is_clipped):
            value = None
        loss = f"{shown} of {total} problems shown" if shown < total else CUT
        lost.append(OmittedMetadata(PROBLEMS, value, total - shown + is_clipped, total, loss))
    for name in ("message", "remediation", "context", "details", "data"):
        value = getattr(before, name)
        if value != getattr(after, name):
            lost.append(OmittedMetadata(name, value, 1, 1, CUT))
    for name in OMITTED:
        entries, kept = getattr(whole, name), list(getattr(cut, name))
        gone = [each for each in entries if each not in kept]
        if name == "warnings":
            shown_texts = {each.message for each in kept}
            if short := [each for each in gone if each.message in shown_texts]:
                lost.append(_omit_details(short, len(entries)))
            gone = [each for each in gone if each not in short]
        if gone:
            value = {each: entries[each] for each in gone} if name in MAPPINGS else to_json(gone)
            lost.append(OmittedMetadata.of(name, value, len(gone), len(entries)))
    if whole.pagination and cut.pagination and whole.pagination.next != cut.pagination.next:
        lost.append(OmittedMetadata("next", whole.pagination.next, 1, 1, NEXT))
    # Problems and context say what their body says.
    if whole.data is not None and cut.data is None and not (lost or before.problems):
        lost.append(OmittedMetadata("body", whole.data, 1, 1, CUT))
    return tuple(lost)


def _omit_details(warnings: Sequence[Warning], total: int) -> OmittedMetadata:
    loss = f"the details of {len(warnings)} of {total} warnings left out"
    return OmittedMetadata("details", to_json(warnings), len(warnings), total, loss)


def add_fidelity(own: Fidelity | None, ours: Fidelity) -> Fidelity:
    """Return what is left of an answer that the view itself shortened."""
    if own is None:
        return ours
    level = max(own.level, ours.level, key=FIDELITY_LEVELS.index)
    dropped = (*own.dropped[:MAX_NAMES], *ours.dropped)
    return Fidelity(level, dropped, {**own.archives, **ours.archives}, own.version)


def _without_context(failure: Failure) -> Failure:
    return replace(failure, problems=(), context={}, details={}, data=None, body=None)


def to_json(entries: Sequence[Any]) -> Any:
    """Return entries as JSON, a warning as one of ``warning_details``."""
    if entries and isinstance(entries[0], tuple):
        return dict(entries)
    return [each.detail if isinstance(each, Warning) else each for each in entries]
