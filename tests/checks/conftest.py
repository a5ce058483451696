"""The messages of the system checks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.checks import CheckMessage, run_checks
from django.urls import path

from drf_mcp.checks.project import Project
from drf_mcp.exposure import Registry
from drf_mcp.views import MCPView


@pytest.fixture
def found() -> Callable[..., list[CheckMessage]]:
    def of(id: str, *, deploy: bool = False) -> list[CheckMessage]:
        messages = run_checks(tags=["drf_mcp"], include_deployment_checks=deploy)
        return [message for message in messages if message.id == id]

    return of


@pytest.fixture
def bare_project(settings, monkeypatch) -> None:
    """A project of one endpoint without tools, whose checks are quick."""
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": [path("mcp", MCPView.as_view())]})
    registry = Registry()
    for reader in (Project, MCPView):
        monkeypatch.setattr(reader, "registry", registry)
