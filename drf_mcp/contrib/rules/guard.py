from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rest_framework.exceptions import PermissionDenied

from drf_mcp.archives import StoredAnswer, can_be_asked
from drf_mcp.contrib.rules.proposing import CallToApprove
from drf_mcp.contrib.rules.ruling import ALLOW, APPROVE, Decision, ViewRefused, decide_call
from drf_mcp.contrib.writes.idempotency_guard import find_made
from drf_mcp.exceptions import attempt
from drf_mcp.features import CallState, Guard, Proceed
from drf_mcp.outcomes import Outcome, Problem

MADE = (
    "The change was made before, and is not made again. Its answer is not given: by now a rule "
    "refuses the call, or has it approved. Read what was changed."
)


class RulesGuard(Guard):
    """Refuses a call, or has it approved, as the first rule that decides says."""

    order = 450

    def __init__(self, rules: Iterable[Any]) -> None:
        self.rules = rules

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        # A caller without a valid credential learns of no rule.
        call.caller.authenticate()
        try:
            decision = decide_call(self.rules, call)
        except ViewRefused as exc:
            # It names the item, where the call has several.
            refused: Outcome | None = call.dispatcher.find_early_refusal(call)
            return refused or exc.outcome
        if decision.ruling.verdict == ALLOW:
            return proceed(call)
        if (made := self._find_earlier(call)) is not None:
            return made
        if decision.ruling.verdict == APPROVE:
            return CallToApprove(call, decision.rule, decision.ruling).make_outcome(proceed)
        return self.refuse(call, decision)

    def refuse(self, call: CallState, decision: Decision) -> Outcome:
        # Whom the view refuses learns of no rule.
        if can_be_asked(call.tool.endpoint):
            refused: Outcome | None = call.dispatcher.find_early_refusal(call)
            if refused is not None:
                return refused
        refusal = PermissionDenied(decision.ruling.reason)
        outcome: Outcome = call.dispatcher.make_refused_outcome(call, refusal)
        failure, items = outcome.failure, call.tool.arguments.items
        if failure is None or not call.bound.items:
            return outcome
        problem = Problem(failure.code, failure.message, remediation=failure.remediation)
        located = items.locate(problem, decision.place, {})
        return outcome.changed(failure=failure.with_problems((located,)))

    def _find_earlier(self, call: CallState) -> Outcome | None:
        """Return the outcome of a call that was made before, if its caller may still learn that."""
        # The call of a proposal that is being made has to end the proposal.
        if call.tool.reads or hasattr(call.caller.request, "mcp_proposal"):
            return None
        if (made := find_made(call, MADE)) is None:
            return None
        answer = StoredAnswer.of_call(call)
        return made if attempt(lambda: bool(answer.find_rights()), False) else None
