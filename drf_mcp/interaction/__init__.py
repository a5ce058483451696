"""What a view may say while it runs."""

from __future__ import annotations

from drf_mcp.interaction.exchange import Block as Block
