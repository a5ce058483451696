"""Shortens results to a budget; the archive keeps the rest."""

from __future__ import annotations

from drf_mcp.truncation.digests import Condensed, Digester, Evidence, canonical_text
from drf_mcp.truncation.lead_digests import LeadDigester
from drf_mcp.truncation.report import RETRIEVAL_TOOL
from drf_mcp.truncation.tokens import count_tokens
from drf_mcp.truncation.truncate import fit_outcome

__all__ = [
    "RETRIEVAL_TOOL",
    "Condensed",
    "Digester",
    "Evidence",
    "LeadDigester",
    "canonical_text",
    "count_tokens",
    "fit_outcome",
]
