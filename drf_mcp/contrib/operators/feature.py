from __future__ import annotations

from typing import Any

from drf_mcp.features import Example, Feature


class OperatorsFeature(Feature):
    tool_reports = {
        "findings": "drf_mcp.contrib.operators.review.FindingsReport",
        "risks": "drf_mcp.contrib.operators.risks.RisksReport",
        "why": "drf_mcp.contrib.operators.permission_trace.WhyReport",
        "lock": "drf_mcp.contrib.operators.lock.LockReport",
        "check": "drf_mcp.contrib.operators.lock.CheckReport",
    }
    page_parts = ("drf_mcp.contrib.operators.page.OperatorsPart",)

    def find_example(self, tool: Any, user: Any = None) -> Example | None:
        from drf_mcp.contrib.operators.examples import find_example

        return find_example(tool, user)
