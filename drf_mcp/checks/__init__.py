"""System checks: what is misconfigured, and what mends it. Importing them registers them."""

from __future__ import annotations

from drf_mcp.checks import (
    apps,
    endpoints,
    lists,
    settings,
    stored_answers,
    tools,
)

__all__ = [
    "apps",
    "endpoints",
    "lists",
    "settings",
    "stored_answers",
    "tools",
]
