"""The parity test case with every tool of the example project."""

from __future__ import annotations

from drf_mcp.test import ToolParity


class TestShopParity(ToolParity):
    users = ["alice", "carol"]
