"""What a view may add to a result, or ask its user, while it runs."""

from __future__ import annotations

from drf_mcp.interaction.exchange import Block as Block
