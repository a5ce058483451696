"""Fixtures for pytest, which finds them by their entry point. Django is imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from drf_mcp.test.client import MCPClient


@pytest.fixture
def mcp_client() -> MCPClient:
    """Return a `drf_mcp.test.MCPClient` that is not signed in yet."""
    from drf_mcp.test.client import MCPClient

    return MCPClient()
