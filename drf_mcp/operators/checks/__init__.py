"""System checks: what is misconfigured, and what mends it. Importing them registers them."""

from __future__ import annotations

from drf_mcp.operators.checks import endpoints, settings, tools

__all__ = ["endpoints", "settings", "tools"]
