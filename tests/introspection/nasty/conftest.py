"""The nasty project behind the endpoint."""

from __future__ import annotations

import pytest

from drf_mcp.tools import registry


@pytest.fixture
def nasty(settings, db):
    """Serve the nasty project, every endpoint of it a tool; settings may be given."""

    def serve(**mcp_settings) -> None:
        settings.ROOT_URLCONF = "tests.introspection.nasty.endpoints"
        settings.DRF_MCP = {
            "EXPOSE": "urlconf",
            "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
            **mcp_settings,
        }
        registry.reload()

    serve()
    return serve
