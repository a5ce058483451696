from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy

from drf_mcp.features import AccessStep, CallState, Feature, Guard, Safeguard
from drf_mcp.outcomes import Outcome


class RulesFeature(Feature):
    """Refuses calls by rules in Python and in a table, and has people approve others."""

    page_parts = ("drf_mcp.contrib.rules.views.RulesPart",)
    expires = {
        "proposals": (
            "drf_mcp.contrib.rules.proposal_store.expire",
            ngettext_lazy("Deleted %(count)d proposal.", "Deleted %(count)d proposals.", "count"),
        )
    }

    def get_tools(self, tools: Any) -> Iterable[Any]:
        from drf_mcp.contrib.rules.tools import make_tools

        return make_tools()

    def finish_outcome(self, outcome: Outcome, call: CallState) -> Outcome:
        from drf_mcp.contrib.rules.proposing import keep_terms

        keep_terms(outcome, call)
        return outcome

    def finish_result(
        self, result: dict[str, Any], outcome: Outcome, call: CallState
    ) -> dict[str, Any]:
        from drf_mcp.contrib.rules.proposing import finish

        finish(result, call)
        return result

    def get_guards(self, call: CallState) -> Sequence[Guard]:
        from drf_mcp.contrib.rules.proposing import RETRIEVE, WITHDRAW, RulesGuard
        from drf_mcp.contrib.rules.ruling import find_rules

        # A caller who waits for an approval may always ask for it.
        if call.tool.name in (RETRIEVE, WITHDRAW) and call.tool.endpoint.is_built_in:
            return ()
        rules = find_rules(call.tool)
        return [RulesGuard(rules)] if rules else ()

    def get_access_steps(self, tool: Any, caller: Any) -> Sequence[AccessStep]:
        from drf_mcp.contrib.rules.expressions import UNKNOWN
        from drf_mcp.contrib.rules.ruling import ALLOW, REFUSE, find_rules
        from drf_mcp.contrib.rules.values import CallValues

        values, steps = CallValues(CallState(tool, {}, caller)), []
        for each in find_rules(tool):
            if (holds := each.foresee(values)) is False:
                continue
            verdict = getattr(each, "verdict", None)
            decides = holds is not UNKNOWN
            allows = verdict == ALLOW or (False if decides and verdict == REFUSE else None)
            steps.append(AccessStep(_("rule"), each.name, allows, each.label))
            if decides:
                break
        return steps

    def get_safeguards(self, tool: Any) -> Sequence[Safeguard]:
        from drf_mcp.contrib.rules.ruling import find_rules

        rules = find_rules(tool)
        says = "; ".join(f"{each.order} {each.name}: {each.label}" for each in rules)
        return [Safeguard("rules", "rules", bool(rules), is_needed=False, order=450, says=says)]
