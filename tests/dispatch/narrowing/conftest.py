from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import include, path
from rest_framework.routers import SimpleRouter

from drf_mcp.exposure import registry
from drf_mcp.views import MCPView
from tests.agents import Agent
from tests.dispatch.narrowing import views

router = SimpleRouter()
router.register("invoices", views.InvoiceViewSet, basename="invoices")
PATTERNS = [
    *router.urls,
    path("search/", views.SearchView.as_view()),
    path("count/", views.CountView.as_view()),
    path("clean/", views.CleanView.as_view()),
    path("secret/", views.SecretView.as_view()),
]
EVERY = {
    *("invoices_list", "invoices_create", "invoices_retrieve"),
    *("invoices_partial_update", "invoices_destroy", "search", "count", "clean"),
}
READS = {"invoices_list", "invoices_retrieve", "search"}
STOCK = {"search", "count"}


@pytest.fixture
def serve(settings) -> Callable[..., None]:
    """Serve the endpoints of these tests and further patterns, with settings of DRF_MCP."""

    def serve(*patterns: Any, **mcp_settings: Any) -> None:
        own = [
            path("", include("drf_mcp.urls")),
            path("mcp/", include("drf_mcp.urls.toolsets")),
            *patterns,
            *PATTERNS,
        ]
        settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": own})
        settings.REST_FRAMEWORK = {
            "DEFAULT_AUTHENTICATION_CLASSES": ["tests.dispatch.narrowing.views.Badge"]
        }
        settings.DRF_MCP = {
            "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
            "ARCHIVE_CLASS": None,
            **mcp_settings,
        }
        registry.reload()
        views.RAN.clear()

    return serve


@pytest.fixture
def endpoint(serve) -> Callable[..., Agent]:
    """Serve ``MCPView.as_view(**options)`` and return an agent at it."""

    def make(**options: Any) -> Agent:
        serve(path("own/mcp", MCPView.as_view(**options)))
        return Agent(Client(), path="/own/mcp")

    return make


@pytest.fixture
def agent_at(serve) -> Callable[..., Agent]:
    """Returns an agent at a path, with headers: ``agent_at(\"/mcp\", mcp_toolsets=\"a\")``."""
    serve()

    def make(at: str, **headers: str) -> Agent:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return Agent(Client(headers=named), path=at)

    return make
