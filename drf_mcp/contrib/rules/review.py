from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drf_mcp.contrib.rules.ruling import ALLOW, REFUSE, find_rules
from drf_mcp.features import AccessStep, Safeguard, ToolReview


class RulesReview(ToolReview):
    def get_access_steps(self, tool: Any, caller: Any) -> Sequence[AccessStep]:
        steps = []
        for each in find_rules(tool):
            # None: it depends on the call.
            allows = {ALLOW: True, REFUSE: False}.get(each.effect) if each.decides_always else None
            steps.append(AccessStep("rule", each.name, allows, each.label))
            if each.decides_always:
                break
        return steps

    def get_safeguards(self, tool: Any) -> Sequence[Safeguard]:
        rules = find_rules(tool)
        says = "; ".join(f"{each.order} {each.name}: {each.label}" for each in rules)
        return [Safeguard("rules", "rules", bool(rules), is_needed=False, order=450, says=says)]
