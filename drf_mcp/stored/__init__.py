"""Keeps what a result had no room for, and the tool that fetches it."""

from __future__ import annotations

from drf_mcp.stored.stores import (
    Archive,
    ArchiveFull,
    ArchiveUnavailable,
    CacheArchive,
    CallArchive,
    DatabaseArchive,
    Entry,
    can_archive,
)

__all__ = [
    "Archive",
    "ArchiveFull",
    "ArchiveUnavailable",
    "CacheArchive",
    "CallArchive",
    "DatabaseArchive",
    "Entry",
    "can_archive",
]
