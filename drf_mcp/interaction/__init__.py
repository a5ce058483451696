"""What a view may say while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drf_mcp.interaction.blocks import Block as Block

if TYPE_CHECKING:
    from drf_mcp.interaction.responses import BlockResponse as BlockResponse


def __getattr__(name: str) -> Any:
    # REST framework is imported by what needs it.
    if name != "BlockResponse":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from drf_mcp.interaction.responses import BlockResponse

    return BlockResponse
