"""Which rule decides about a call, and the guard that does what it says."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from operator import attrgetter
from typing import Any

from django.apps import apps
from django.db import router
from rest_framework.exceptions import PermissionDenied

from drf_mcp.contrib.rules.proposing import Proposing
from drf_mcp.contrib.rules.ruling import ALLOW, REFUSE, RULES, Ruling
from drf_mcp.contrib.rules.values import CallValues, ViewRefused
from drf_mcp.dispatch.guards import CallCrashed, CallRefused
from drf_mcp.exceptions import contain
from drf_mcp.features import CallState, Guard, Proceed
from drf_mcp.outcomes import Outcome


def find_rules(tool: Any = None) -> list[Any]:
    """Return the rules about a tool in their order, each with `decide`; None for all rules."""
    model: Any = apps.get_app_config("drf_mcp_rules").get_model("CallRule")
    rows = model._default_manager.using(router.db_for_read(model)).filter(is_active=True)
    # Of the same place, those in Python come first.
    every = sorted([*RULES, *rows], key=attrgetter("order"))
    return [each for each in every if tool is None or each.matches(tool)]


class Decision:
    """What the rules decide about one call: the first that decides wins.

    Attributes:
        rule: the rule that decides, None where no rule does.
        ruling: what it decides; without a rule the call is allowed.
    """

    def __init__(
        self, rules: Iterable[Any], call: CallState, values: CallValues | None = None
    ) -> None:
        self.rule: Any = None
        self.ruling = Ruling.allow()
        values = values or CallValues(call)
        for each in rules:
            if (found := contain(partial(each.decide, values), crash)) is not None:
                self.rule, self.ruling = each, found
                return

    @classmethod
    def of_requests(cls, rules: Iterable[Any], call: CallState) -> Decision:
        """Return the first decision against one of the requests that a call makes."""
        rules = list(rules)
        decisions = [cls(rules, call.of_item(each)) for each in call.bound.requests]
        against = (each for each in decisions if each.ruling.verdict != ALLOW)
        return next(against, decisions[0])


def crash(exc: Exception) -> None:
    # What a rule cannot decide is not done.
    if isinstance(exc, ViewRefused):
        raise exc
    raise CallCrashed(exc) from exc


class RulesGuard(Guard):
    """Refuses a call, or has it approved, as the first rule that decides says."""

    order = 450

    def __init__(self, rules: Iterable[Any]) -> None:
        self.rules = rules

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        # A caller who is not let in learns of no rule.
        call.caller.authenticate()
        try:
            decision = Decision.of_requests(self.rules, call)
        except ViewRefused as exc:
            return exc.outcome
        ruling = decision.ruling
        if ruling.verdict == ALLOW:
            return proceed(call)
        if ruling.verdict == REFUSE:
            raise CallRefused(PermissionDenied(ruling.reason))
        return Proposing(call, decision.rule, ruling).answer(proceed)
