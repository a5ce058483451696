from __future__ import annotations

from django.utils.translation import ngettext_lazy

from drf_mcp.features import Feature


class OAuthFeature(Feature):
    expires = {
        "unused_clients": (
            "drf_mcp.contrib.oauth.documents.expire_documents",
            ngettext_lazy(
                "Deleted %(count)d client that was never connected.",
                "Deleted %(count)d clients that were never connected.",
                "count",
            ),
        )
    }
