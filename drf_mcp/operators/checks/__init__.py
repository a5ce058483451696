"""System checks: what is misconfigured, and what mends it. Importing them registers them."""

from __future__ import annotations

from drf_mcp.operators.checks import archive, endpoints, middleware, settings, tools

__all__ = ["archive", "endpoints", "middleware", "settings", "tools"]
