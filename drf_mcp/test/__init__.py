"""For the tests of a project: a client, parity with HTTP, and a lock file of the tools."""

from __future__ import annotations

from drf_mcp.test.client import MCPClient, MCPRefused, ToolError, ToolProblem, ToolResult
from drf_mcp.test.parity import (
    ToolParity,
    assert_confirms,
    assert_dry_run_changes_nothing,
    assert_idempotent,
    assert_parity,
    assert_tool_parity,
    assert_tool_surface,
)

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
