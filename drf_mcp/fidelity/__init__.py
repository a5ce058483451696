"""Results that fit a budget: digested, trimmed, and the rest kept to be fetched later."""

from __future__ import annotations

from drf_mcp.fidelity.archives import (
    Archive,
    ArchiveUnavailable,
    CacheArchive,
    DatabaseArchive,
    Entry,
    can_archive,
    owner_of,
)
from drf_mcp.fidelity.canonical_text import canonical_text
from drf_mcp.fidelity.digesters import Condensed, Digest, Digester, Evidence
from drf_mcp.fidelity.extractive import ExtractiveDigester
from drf_mcp.fidelity.fitting import Fitter, Write
from drf_mcp.fidelity.promises import kept_promises
from drf_mcp.fidelity.reports import RETRIEVAL_TOOL
from drf_mcp.fidelity.selection import (
    field_paths,
    names_all,
    nearest_path,
    select,
    unknown_paths,
)

__all__ = [
    "RETRIEVAL_TOOL",
    "Archive",
    "ArchiveUnavailable",
    "CacheArchive",
    "Condensed",
    "DatabaseArchive",
    "Digest",
    "Digester",
    "Entry",
    "Evidence",
    "ExtractiveDigester",
    "Fitter",
    "Write",
    "can_archive",
    "canonical_text",
    "field_paths",
    "kept_promises",
    "names_all",
    "nearest_path",
    "owner_of",
    "select",
    "unknown_paths",
]
