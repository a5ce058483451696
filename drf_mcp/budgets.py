"""How many tokens a result may have: see docs/large_results.md."""

from __future__ import annotations

from drf_mcp.calls.budget import ToolBudget
from drf_mcp.truncation import RETRIEVAL_TOOL, count_tokens
from drf_mcp.truncation.report import describe_retrieval

Budget = ToolBudget

__all__ = ["RETRIEVAL_TOOL", "Budget", "ToolBudget", "count_tokens", "describe_retrieval"]
