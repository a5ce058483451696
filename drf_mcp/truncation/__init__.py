"""Results that fit a budget: shortened, and the rest kept to be fetched later."""

from __future__ import annotations

from drf_mcp.truncation.canonical_text import canonical_text
from drf_mcp.truncation.digests import Condensed, Digester, Evidence
from drf_mcp.truncation.lead_digests import LeadDigester
from drf_mcp.truncation.report import RETRIEVAL_TOOL
from drf_mcp.truncation.schema_relaxation import relax_schema
from drf_mcp.truncation.tokens import count_tokens
from drf_mcp.truncation.truncate import Truncation, Write

__all__ = [
    "RETRIEVAL_TOOL",
    "Condensed",
    "Digester",
    "Evidence",
    "LeadDigester",
    "Truncation",
    "Write",
    "canonical_text",
    "count_tokens",
    "relax_schema",
]
