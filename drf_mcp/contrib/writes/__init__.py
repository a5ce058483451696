"""Confirmations, dry runs, idempotency keys, preconditions and calls for several objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drf_mcp import import_on_use

if TYPE_CHECKING:
    from drf_mcp.contrib.writes.idempotency import IdempotencyKeyMixin

__all__ = ["IdempotencyKeyMixin"]
__getattr__ = import_on_use(__name__, {"IdempotencyKeyMixin": "idempotency"})
