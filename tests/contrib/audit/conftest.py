from __future__ import annotations

from collections.abc import Callable

import pytest
from django.apps import apps
from django.contrib import admin
from django.urls import path

from drf_mcp.contrib.audit.auditor import Auditor
from drf_mcp.contrib.audit.models import AuditedCall
from tests.contrib.audit import views


@pytest.fixture(autouse=True)
def auditor(monkeypatch) -> Auditor:
    """Record every call of the test."""
    auditor = Auditor()
    monkeypatch.setattr(apps.get_app_config("drf_mcp_audit"), "auditor", auditor)
    views.made.clear()
    return auditor


@pytest.fixture
def configure(expose) -> Callable[..., None]:
    def configure(**mcp_settings) -> None:
        patterns = [
            path("make-group/", views.MakeGroup.as_view()),
            path("slow/", views.Slow.as_view()),
            path("admin/", admin.site.urls),
        ]
        expose(*patterns, **mcp_settings)

    return configure


@pytest.fixture
def agent_of(agent_of):
    """Return agents to whom a crash is a response and no exception of the test."""

    def agent(username: str | None, **options):
        agent = agent_of(username, **options)
        agent.http.raise_request_exception = False
        return agent

    return agent


@pytest.fixture
def agent(configure, agent_of):
    configure(AUTHENTICATION_CLASSES=["rest_framework.authentication.TokenAuthentication"])
    return agent_of("alice")


@pytest.fixture
def row(db) -> Callable[[], AuditedCall]:
    """Return the only record."""
    return AuditedCall.objects.get
