from __future__ import annotations

from collections.abc import Iterator

from django.core.checks import CheckMessage, Warning

from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.rules.ruling import RULES


@register_check()
def check_rules(project: Project) -> Iterator[CheckMessage]:
    for rule in RULES:
        if not any(tool.matches(rule.patterns) for tool in project.tools.values()):
            yield Warning(
                f"The rule {rule.name} is about no tool: {', '.join(rule.patterns)}.",
                hint="Name tools as mcp_tools lists them. See docs/rules.md.",
                id="drf_mcp_rules.W001",
            )
