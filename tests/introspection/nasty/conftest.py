"""Serves the nasty project, whose endpoints are hard to describe."""

from __future__ import annotations

import pytest

from drf_mcp.exposure import registry


@pytest.fixture
def nasty(settings, db):
    """Serve every endpoint of the project as a tool; returns a function that changes settings."""

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
