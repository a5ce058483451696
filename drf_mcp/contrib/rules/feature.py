from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.features import AccessStep, CallState, Feature, Guard, Safeguard


class RulesFeature(Feature):
    """Refuses calls by rules in Python and in a table, and has people approve others."""

    def get_guards(self, call: CallState) -> Sequence[Guard]:
        from drf_mcp.contrib.rules.deciding import RulesGuard, find_rules

        rules = find_rules(call.tool)
        return [RulesGuard(rules)] if rules else ()

    def get_access_steps(self, tool: Any, caller: Any) -> Sequence[AccessStep]:
        return list(self.find_access_steps(tool, caller))

    def find_access_steps(self, tool: Any, caller: Any) -> Iterator[AccessStep]:
        from drf_mcp.contrib.rules.deciding import find_rules
        from drf_mcp.contrib.rules.expressions import UNKNOWN
        from drf_mcp.contrib.rules.ruling import ALLOW, REFUSE
        from drf_mcp.contrib.rules.values import CallValues

        values = CallValues(CallState(tool, {}, caller))
        for each in find_rules(tool):
            holds = each.foresee(values)
            if holds is False:
                continue
            verdict = getattr(each, "verdict", None)
            decides = holds is not UNKNOWN
            allows = verdict == ALLOW or (False if decides and verdict == REFUSE else None)
            yield AccessStep(_("rule"), each.name, allows, each.label)
            if decides:
                return

    def get_safeguards(self, tool: Any) -> Sequence[Safeguard]:
        from drf_mcp.contrib.rules.deciding import find_rules

        rules = find_rules(tool)
        says = "; ".join(f"{each.order} {each.name}: {each.label}" for each in rules)
        return [Safeguard("rules", "rules", bool(rules), is_needed=False, order=450, says=says)]
