"""Digests of texts that do not fit: see docs/large_results.md."""

from __future__ import annotations

from drf_mcp.truncation.digests import Condensed, Digester, Evidence, canonical_text
from drf_mcp.truncation.lead_digests import LeadDigester

__all__ = ["Condensed", "Digester", "Evidence", "LeadDigester", "canonical_text"]
