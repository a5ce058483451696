"""Expose Django REST framework endpoints as Model Context Protocol tools."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"
__all__ = ["__version__", "call_context", "mcp_tool", "mcp_viewset", "preload", "registry"]

# INSTALLED_APPS imports this module before models can be imported, so that each name is imported
# on its first use. `__init__.pyi` has their types.
MODULES = {
    "call_context": "drf_mcp.interaction.call_context",
    "mcp_tool": "drf_mcp.tools.options",
    "mcp_viewset": "drf_mcp.tools.options",
    "preload": "drf_mcp.transports.preloading",
    "registry": "drf_mcp.tools.registry",
}


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return getattr(import_module(MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
