"""A change that has a key is made once: sent again, the first answer comes again."""

from __future__ import annotations

from drf_mcp.contrib.writes.idempotency.view import IdempotencyKeyMixin

__all__ = ["IdempotencyKeyMixin"]
