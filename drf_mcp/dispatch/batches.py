"""Joins the outcomes of a call about several objects: one request was made for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from drf_mcp.arguments.call import Call
from drf_mcp.codes import APPROACHING, WARNING_SEVERITIES, Category
from drf_mcp.features import CallState
from drf_mcp.outcomes import MISSING, Outcome, Problem, Source, Warning

PARTIAL = "PARTIAL_FAILURE"
# Members of ``meta`` that differ by object: the version, and the present values.
OF_EACH = ("if_match", "current")
THROTTLED = 429


class Batch:
    """The outcomes of the requests of one call, in the order of its ids."""

    def __init__(self, call: CallState) -> None:
        self.tool = call.tool
        self.call = call.bound
        self.ids = self.find_ids()
        self.outcomes: list[Outcome] = []

    def find_ids(self) -> Sequence[Any]:
        ids: Sequence[Any] = self.call.kwargs[self.call.many]
        return ids

    def ask(self, perform: Callable[[Call], Outcome]) -> Outcome:
        # An id that was sent twice makes one request. After a throttle has refused a request, no
        # further request is made.
        known: dict[str, Outcome] = {}
        refused: Outcome | None = None
        for id, request in zip(self.ids, self.call.requests, strict=True):
            key = self.tool.endpoint.route.build(request.kwargs) or str(id)
            if key not in known:
                known[key] = refused or perform(request)
                if known[key].status == THROTTLED:
                    refused = known[key]
            self.outcomes.append(known[key])
        self.distinct = list(known.values())
        return self.answer()

    def answer(self) -> Outcome:
        if all(self.is_miss(outcome) for outcome in self.outcomes):
            return self.fail()
        base = next(outcome for outcome in self.outcomes if not self.is_miss(outcome))
        warnings = self._join_warnings()
        return base.changed(
            data=[outcome.data if not self.is_miss(outcome) else None for outcome in self.outcomes],
            failure=None,
            pagination=None,
            content=tuple(block for outcome in self.distinct for block in outcome.content),
            warnings=(*warnings, self.make_warning()) if self.misses else warnings,
            suggestions=tuple(self.join_suggestions()),
            rate_limit=self.outcomes[-1].rate_limit or base.rate_limit,
            telemetry=self._join_telemetry(),
            meta=self._join_meta(),
            fidelity=next(filter(None, (outcome.fidelity for outcome in self.distinct)), None),
            source=Source(self._find_common("version"), self._find_common("content_hash")),
        )

    def fail(self) -> Outcome:
        # Objects that were not found are an answer. A call that is refused or fails is no answer.
        failed = [(outcome, outcome.failure) for outcome in self.outcomes if outcome.failure]
        found = [(o, f) for o, f in failed if f.category is not Category.NOT_FOUND]
        soft = all(failure.soft for _, failure in found)
        main = found[0][0] if found else self.outcomes[0]
        several = len(self.groups) > 1
        if main.failure is None or not (soft or several):
            return main
        message = self.describe_misses() if len(self.ids) > 1 else main.failure.message
        # Where all fail with the same message, no problems are needed.
        problems = self.misses if several else ()
        failure = replace(main.failure, message=message, problems=problems, soft=soft, body=MISSING)
        nulls = [None] * len(self.ids) if soft else None
        suggestions = tuple(self.join_suggestions())
        return main.changed(failure=failure, data=nulls, suggestions=suggestions)

    @cached_property
    def groups(self) -> Mapping[tuple[str, str], list[Any]]:
        """The ids of the objects that failed, by the code and the message of the failure."""
        groups: dict[tuple[str, str], list[Any]] = {}
        for id, outcome in zip(self.ids, self.outcomes, strict=True):
            if outcome.failure is not None:
                ids = groups.setdefault((outcome.failure.code, outcome.failure.message), [])
                ids += [] if id in ids else [id]
        return groups

    @cached_property
    def misses(self) -> tuple[Problem, ...]:
        pointer = self.tool.pointers(self.call).pointer([self.call.many])
        advised: set[str] = set()
        misses = []
        for index, (id, outcome) in enumerate(zip(self.ids, self.outcomes, strict=True)):
            if (failure := outcome.failure) is not None:
                # The same advice is given once.
                advice = "" if failure.remediation in advised else failure.remediation
                advised.add(failure.remediation)
                problem = Problem(
                    failure.code,
                    f"{id}: {failure.message}",
                    f"{pointer}/{index}",
                    received=id,
                    remediation=advice,
                    recoverable=failure.recoverable,
                    context=failure.context,
                )
                misses.append(problem)
        return tuple(misses)

    def count_failed(self) -> int:
        return len(self.misses)

    def describe_misses(self) -> str:
        parts = [f"{self.count_failed()} of {len(self.ids)} failed."]
        for (code, text), ids in self.groups.items():
            parts.append(f"{', '.join(map(str, ids))}: {code}, {text}")
        return " ".join(parts)

    def find_details(self) -> dict[str, Any]:
        # What else the errors say, for envelopes whose warnings have no problems.
        said = {each.pointer: each.context for each in self.misses if each.context}
        return {"details": said} if said else {}

    def make_warning(self) -> Warning:
        codes: dict[str, list[Any]] = {}
        for (code, _text), ids in self.groups.items():
            codes[code] = [*codes.get(code, []), *ids]
        context = {
            "failed_ids": codes,
            "successful_ids": len(self.ids) - len(self.misses),
            "total_ids": len(self.ids),
            **self.find_details(),
        }
        return Warning(
            PARTIAL,
            self.describe_misses(),
            WARNING_SEVERITIES[PARTIAL],
            context,
            remediation=" ".join(problem.remediation for problem in self.misses).strip(),
            problems=self.misses,
        )

    def _join_warnings(self) -> tuple[Warning, ...]:
        # The last request has the present rest of a quota.
        warnings = (warning for outcome in self.distinct for warning in outcome.warnings)
        joined = {(w.code, "" if w.code == APPROACHING else w.message): w for w in warnings}
        return tuple(joined.values())

    def join_suggestions(self) -> Iterable[str]:
        return dict.fromkeys(text for outcome in self.distinct for text in outcome.suggestions)

    def _join_meta(self) -> dict[str, Any]:
        metas = [outcome.meta for outcome in self.outcomes]
        joined = {name: value for meta in metas for name, value in meta.items()}
        for name in [name for name, value in joined.items() if value is True]:
            # Keep a flag only if every outcome has it.
            if not all(meta.get(name) for meta in metas):
                del joined[name]
        each = {name: [meta.get(name) for meta in metas] for name in OF_EACH if name in joined}
        return {**joined, **each}

    def _join_telemetry(self) -> dict[str, Any]:
        # Numbers are added; of other values the last is kept.
        joined: dict[str, Any] = {}
        for outcome in self.distinct:
            for name, value in outcome.telemetry.items():
                both = (value, joined.get(name))
                is_sum = all(type(each) in (int, float) for each in both)
                joined[name] = sum(both) if is_sum else value
        return joined

    def _find_common(self, name: str) -> str:
        values = {getattr(o.source, name) for o in self.outcomes if not self.is_miss(o)}
        return values.pop() if len(values) == 1 else ""

    @staticmethod
    def is_miss(outcome: Outcome) -> bool:
        # A soft failure may have an answer.
        failure = outcome.failure
        return failure is not None and not (failure.soft and outcome.data is not None)
