from __future__ import annotations

from drf_mcp.features import Feature


class TokensFeature(Feature):
    page_parts = ("drf_mcp.contrib.tokens.views.TokensPart",)
