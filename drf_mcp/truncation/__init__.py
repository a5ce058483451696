"""Results that fit a budget: digested, trimmed, and the rest kept to be fetched later."""

from __future__ import annotations

from drf_mcp.truncation.canonical_text import canonical_text
from drf_mcp.truncation.digests import Condensed, Digest, Digester, Evidence
from drf_mcp.truncation.extractive import ExtractiveDigester
from drf_mcp.truncation.report import RETRIEVAL_TOOL
from drf_mcp.truncation.schema_relaxation import kept_promises
from drf_mcp.truncation.truncate import Fitter, Write

__all__ = [
    "RETRIEVAL_TOOL",
    "Condensed",
    "Digest",
    "Digester",
    "Evidence",
    "ExtractiveDigester",
    "Fitter",
    "Write",
    "canonical_text",
    "kept_promises",
]
