from __future__ import annotations

from django.apps import apps

from drf_mcp.features import Feature


class OAuthFeature(Feature):
    if apps.is_installed("oauth2_provider"):
        expires = {"unused_clients": "drf_mcp.contrib.oauth.documents.expire_documents"}
