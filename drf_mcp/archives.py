"""Archives, and the gate of every answer that is kept for its caller."""

from __future__ import annotations

from drf_mcp.dispatch.probe import can_be_asked
from drf_mcp.stored import Archive, CacheArchive, DatabaseArchive, Entry
from drf_mcp.stored.answers import (
    FAILED,
    MADE,
    StoredAnswer,
    finds_object,
    is_old,
)

__all__ = [
    "FAILED",
    "MADE",
    "Archive",
    "CacheArchive",
    "DatabaseArchive",
    "Entry",
    "StoredAnswer",
    "can_be_asked",
    "finds_object",
    "is_old",
]
