"""How many tokens a result may have: see docs/large_results.md."""

from __future__ import annotations

from drf_mcp.calls.results import ToolBudget
from drf_mcp.truncation import RETRIEVAL_TOOL
from drf_mcp.truncation.budget import Budget
from drf_mcp.truncation.report import describe_retrieval
from drf_mcp.truncation.tokens import count_tokens

__all__ = ["RETRIEVAL_TOOL", "Budget", "ToolBudget", "count_tokens", "describe_retrieval"]
