"""What a call may do to the world, from the HTTP method and the action."""

from __future__ import annotations

from typing import Any

from drf_mcp.tools.endpoints import Endpoint
from drf_mcp.tools.options import ToolOptions

READ_ONLY_METHODS = frozenset({"GET"})
IDEMPOTENT_METHODS = frozenset({"GET", "PUT", "DELETE"})


def hints_of(endpoint: Endpoint, options: ToolOptions) -> dict[str, Any]:
    """Return the four hints of ToolAnnotations.

    Only a read and a plain create are known to destroy nothing. An API is a closed
    world: what its tools reach is its own data.
    """
    read_only = first(options.read_only, endpoint.method in READ_ONLY_METHODS)
    creates = endpoint.method == "POST" and endpoint.standard_action == "create"
    repeatable = read_only or endpoint.method in IDEMPOTENT_METHODS
    return {
        "readOnlyHint": read_only,
        "destructiveHint": first(options.destructive, not (read_only or creates)),
        "idempotentHint": first(options.idempotent, repeatable),
        "openWorldHint": first(options.open_world, False),
    }


def first(said: bool | None, default: bool) -> bool:
    """Return what was said, or the default when nothing was."""
    return default if said is None else said
