"""Archives, and the gate of every answer that is kept for its caller."""

from __future__ import annotations

from drf_mcp.access.limits import find_holder
from drf_mcp.access.scopes import ask_view_for_rights, get_rights_fingerprint, make_caller_key
from drf_mcp.dispatch.call_objects import CallObject, ShownObject, hash_row
from drf_mcp.dispatch.probe import Probe, can_be_asked, find_written_databases, rolling_back
from drf_mcp.dispatch.request import get_named_object
from drf_mcp.stored import Archive, CacheArchive, DatabaseArchive, Entry
from drf_mcp.stored.answers import FAILED, MADE, StoredAnswer, finds_object, is_old

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
    "ask_view_for_rights",
    "can_be_asked",
    "find_holder",
    "find_written_databases",
    "finds_object",
    "get_named_object",
    "get_rights_fingerprint",
    "hash_row",
    "is_old",
    "make_caller_key",
    "rolling_back",
]
