"""For the tests of a project: a client, parity with HTTP, and a lock file of the tools."""

from __future__ import annotations

from drf_mcp.test.assertions import (
    assert_confirms,
    assert_dry_run_changes_nothing,
    assert_idempotent,
    assert_tool_surface,
)
from drf_mcp.test.client import MCPClient, MCPRefused
from drf_mcp.test.parity import ToolParity, assert_parity, assert_tool_parity
from drf_mcp.test.results import ToolError, ToolProblem, ToolResult

__all__ = [
    "MCPClient",
    "MCPRefused",
    "ToolError",
    "ToolParity",
    "ToolProblem",
    "ToolResult",
    "assert_confirms",
    "assert_dry_run_changes_nothing",
    "assert_idempotent",
    "assert_parity",
    "assert_tool_parity",
    "assert_tool_surface",
]
