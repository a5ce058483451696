"""What a view may say while it runs."""

from __future__ import annotations

from drf_mcp.interaction.blocks import Block as Block
