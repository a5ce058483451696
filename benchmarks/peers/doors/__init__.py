"""The endpoint of each package over the example project: one module for each package."""

from __future__ import annotations

from importlib import import_module

from benchmarks.peers.doors.base import Door

MODULES = {
    "plain": "base",
    "drf_mcp": "own",
    "fastmcp": "fast",
    "django-mcpz": "mcpz",
    "django-mcp-server": "mcp_server_door",
}


def find_door(peer: str) -> type[Door]:
    """Return the class of a package's endpoint; its module imports the package."""
    module = import_module(f"benchmarks.peers.doors.{MODULES[peer]}")
    door: type[Door] = module.Door
    return door
