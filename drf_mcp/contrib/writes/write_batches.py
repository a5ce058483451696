"""One answer to a call that writes several objects, each by a request of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property

from django.db import DEFAULT_DB_ALIAS, router, transaction
from django.utils.translation import gettext as _

from drf_mcp.dispatch.batches import THROTTLED, Batch, is_miss
from drf_mcp.features import CallState
from drf_mcp.outcomes import Failure, Outcome, Problem, Warning
from drf_mcp.tools.arguments.call import Call


class WriteBatch(Batch):
    """The outcomes of the requests of one call, one for each of its items.

    All of them are made, or none is; with ``bulk="partial"`` those that work are kept.
    """

    def __init__(self, call: CallState) -> None:
        self.tool = tool = call.tool
        self.call = bound = call.bound
        self.outcomes: list[Outcome] = []
        self.name = tool.arguments.items.name
        self.ids = [f"{self.name}[{index}]" for index in range(len(bound.items))]

    @property
    def keeps_some(self) -> bool:
        return bool(self.tool.options.bulk == "partial")

    @property
    def database(self) -> str:
        model = self.tool.related.find_model(self.tool.endpoint)
        return DEFAULT_DB_ALIAS if model is None else router.db_for_write(model)

    def ask(self, perform: Callable[[Call], Outcome]) -> Outcome:
        if self.keeps_some:
            self.perform_all(perform)
        else:
            using = self.database
            with transaction.atomic(using=using):
                self.perform_all(lambda request: self.perform_within(using, perform, request))
                if any(map(is_miss, self.outcomes)):
                    transaction.set_rollback(True, using=using)
        self.distinct = self.outcomes
        if any(map(is_miss, self.outcomes)) and not self.keeps_some:
            return self.fail()
        return self.answer()

    def perform_all(self, perform: Callable[[Call], Outcome]) -> None:
        # Where a throttle refuses one request, the others are not sent.
        refused: Outcome | None = None
        for request in self.call.items:
            outcome = refused or perform(request)
            refused = outcome if outcome.status == THROTTLED else None
            self.outcomes.append(outcome)

    def perform_within(
        self, using: str, perform: Callable[[Call], Outcome], request: Call
    ) -> Outcome:
        # What a refused request leaves behind must not be in the way of the next one.
        with transaction.atomic(using=using):
            outcome = perform(request)
            if is_miss(outcome):
                transaction.set_rollback(True, using=using)
        return outcome

    def fail(self) -> Outcome:
        main = next(o for o in self.outcomes if is_miss(o))
        failures = [o.failure for o in self.outcomes if is_miss(o) and o.failure]
        hard = [failure for failure in failures if not failure.soft]
        message = self.describe_misses()
        if len(failures) < len(self.outcomes):
            message = " ".join([_("Nothing was written."), message])
        failure = replace(
            (hard or failures)[0],
            message=message,
            problems=self.misses,
            soft=not hard,
        )
        suggestions = tuple(self.join_suggestions())
        return main.changed(failure=failure, data=None, body=None, meta={}, suggestions=suggestions)

    @cached_property
    def misses(self) -> tuple[Problem, ...]:
        return tuple(
            problem
            for index, outcome in enumerate(self.outcomes)
            if is_miss(outcome) and outcome.failure
            for problem in self.get_problems(outcome, outcome.failure, index)
        )

    def get_problems(self, outcome: Outcome, failure: Failure, index: int) -> Iterable[Problem]:
        shared = {n: v for n, v in self.call.arguments.items() if n != self.name}
        whole = Problem(
            failure.code,
            failure.message,
            remediation=failure.remediation,
            recoverable=failure.recoverable,
            context=failure.context,
        )
        # What a refusal tells of the object goes with its first problem.
        first, *others = failure.problems or (whole,)
        first = replace(first, context={**first.context, **outcome.meta})
        locate = self.tool.arguments.items.locate
        return [locate(problem, index, shared) for problem in (first, *others)]

    def describe_misses(self) -> str:
        failed = [outcome for outcome in self.outcomes if is_miss(outcome)]
        groups = self.groups.items()
        parts = [f"{', '.join(names)}: {code}, {text}" for (code, text), names in groups]
        return f"{self.count_failed(len(failed))} {' '.join(parts)}"

    def get_warning(self) -> Warning:
        failed = [index for index, outcome in enumerate(self.outcomes) if is_miss(outcome)]
        context = {
            "failed_items": failed,
            "successful_items": len(self.ids) - len(failed),
            "total_items": len(self.ids),
        }
        return replace(super().get_warning(), context=context)
