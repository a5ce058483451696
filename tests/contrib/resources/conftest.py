from __future__ import annotations

import pytest
from django.urls import path

from drf_mcp.exposure import Registry
from drf_mcp.views import MCPView
from tests.contrib.resources import views

PATTERNS = [
    path("pages/<slug:name>/", views.Page.as_view()),
    path("picture/", views.Picture.as_view()),
    path("illustrated/", views.Illustrated.as_view()),
    path("files/<path:file>", views.Archive.as_view()),
    path("busy/", views.Busy.as_view()),
    path("broken/", views.Broken.as_view()),
    path("names/", views.Names.as_view()),
    path("names/<int:pk>/", views.Name.as_view()),
]


@pytest.fixture
def serve(settings, agent_of):
    """Serve the views of this folder and these documents, and return an agent."""

    def serve(*documents, revision: str = "2026-07-28", **mcp_settings):
        registry = Registry()
        registry.add(*documents)
        endpoint = MCPView.as_view(registry=registry, permission_classes=[], server_name="test")
        patterns = [path("mcp", endpoint), *PATTERNS]
        settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": patterns})
        settings.DRF_MCP = {"ARCHIVE_CLASS": None, **mcp_settings}
        agent = agent_of(None, revision=revision)
        agent.http.raise_request_exception = False
        return agent

    return serve
