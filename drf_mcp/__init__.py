"""Expose Django REST framework endpoints as Model Context Protocol tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drf_mcp.interaction.call_context import call_context
    from drf_mcp.tools import mcp_tool, mcp_viewset, registry

__version__ = "0.1.0"
__all__ = ["__version__", "call_context", "mcp_tool", "mcp_viewset", "registry"]


def __getattr__(name: str) -> Any:
    """Import the public names on first use: INSTALLED_APPS imports this module too early."""
    if name in {"mcp_tool", "mcp_viewset", "registry"}:
        from drf_mcp import tools

        return getattr(tools, name)
    if name == "call_context":
        from drf_mcp.interaction.call_context import call_context

        return call_context
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
