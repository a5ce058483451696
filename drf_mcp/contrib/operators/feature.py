from __future__ import annotations

from drf_mcp.features import Feature


class OperatorsFeature(Feature):
    tool_reports = {
        "findings": "drf_mcp.contrib.operators.lint.FindingsReport",
        "risks": "drf_mcp.contrib.operators.risks.RisksReport",
        "why": "drf_mcp.contrib.operators.permission_trace.WhyReport",
        "lock": "drf_mcp.contrib.operators.lock.LockReport",
        "check": "drf_mcp.contrib.operators.lock.CheckReport",
    }
    page_parts = ("drf_mcp.contrib.operators.page.OperatorsPart",)
    tool_review = "drf_mcp.contrib.operators.examples.ExamplesReview"
