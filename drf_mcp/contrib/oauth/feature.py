from __future__ import annotations

from drf_mcp.features import Feature


class OAuthFeature(Feature):
    expires = {"unused_clients": "drf_mcp.contrib.oauth.documents.expire_documents"}
