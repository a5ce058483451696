"""Archives, and the gate of every answer that is kept for its caller."""

from __future__ import annotations

from drf_mcp.access.scopes import get_rights_fingerprint
from drf_mcp.dispatch.call_objects import CallObject, ShownObject, hash_row
from drf_mcp.dispatch.probe import Probe, can_be_asked, find_written_databases
from drf_mcp.dispatch.request import get_named_object
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
    "CallObject",
    "DatabaseArchive",
    "Entry",
    "Probe",
    "ShownObject",
    "StoredAnswer",
    "can_be_asked",
    "find_written_databases",
    "finds_object",
    "get_named_object",
    "get_rights_fingerprint",
    "hash_row",
    "is_old",
]
