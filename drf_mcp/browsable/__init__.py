"""The page that the endpoint shows to people with a browser."""

from __future__ import annotations

from drf_mcp.browsable.responses import is_wanted, refuse, show

__all__ = ["is_wanted", "refuse", "show"]
