from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import include, path

from drf_mcp.exposure import registry
from tests.agents import Agent
from tests.contrib.writes.idempotency import views

PATTERNS = [
    path("", include("drf_mcp.urls")),
    path("pay/", views.KeyedPayments.as_view()),
    path("staff/", views.StaffPayments.as_view()),
    path("header/", views.HeaderPayments.as_view()),
    path("required/", views.RequiredHeaderPayments.as_view()),
    path("receipts/", views.Receipts.as_view()),
    path("header-receipts/", views.HeaderReceipts.as_view()),
    path("search/", views.Search.as_view()),
]


@pytest.fixture
def serve(settings) -> Callable[..., None]:
    """Serve the endpoints with these settings of DRF_MCP."""

    def serve(*patterns: Any, **mcp_settings: Any) -> None:
        settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": [*PATTERNS, *patterns]})
        settings.DRF_MCP = {"ARCHIVE_CLASS": None, **mcp_settings}
        registry.reload()

    return serve


@pytest.fixture
def payer(serve, agent_of) -> Agent:
    """An agent with alice's token, at the endpoints of the tests."""
    serve()
    alice = agent_of("alice")
    # A view that crashes answers 500.
    alice.http.raise_request_exception = False
    return alice
