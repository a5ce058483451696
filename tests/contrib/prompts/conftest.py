from __future__ import annotations

import pytest
from django.urls import include, path

from drf_mcp.exposure import registry
from drf_mcp.views import MCPView


@pytest.fixture
def serve(settings, agent_of, monkeypatch):
    """Serve the shop with these prompts and documents, and return an agent of a user."""

    def serve(*added, username="alice", revision="2026-07-28", endpoint=None, **mcp_settings):
        monkeypatch.setattr(registry, "_added", list(added))
        patterns = [
            path("here", MCPView.as_view(**(endpoint or {}))),
            path("", include("example_project.urls")),
        ]
        settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": patterns})
        settings.DRF_MCP = {**settings.DRF_MCP, **mcp_settings}
        agent = agent_of(username, revision=revision)
        agent.path = "/here"
        return agent

    return serve
