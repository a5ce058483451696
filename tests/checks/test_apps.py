"""Apps that are missing: what was added for them, and what another app needs."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.test import modify_settings

from drf_mcp.contrib.prompts import Prompt
from drf_mcp.contrib.resources import Document
from drf_mcp.tools import registry


@pytest.fixture(autouse=True)
def nothing_added(monkeypatch):
    monkeypatch.setattr(registry, "_added", [])


def test_what_an_app_would_serve_that_is_not_installed_is_named(expose, found):
    registry.add(Document("guide", "text"), Prompt("hello", "shop/prompts/complaint.md"))
    expose()
    assert found("drf_mcp.W029") == []
    with modify_settings(INSTALLED_APPS={"remove": ["drf_mcp.contrib.prompts"]}):
        [warning] = found("drf_mcp.W029")
    assert "drf_mcp.contrib.prompts" in warning.msg


def test_an_app_that_another_needs_is_named(expose, found):
    expose()
    assert found("drf_mcp.E018") == []
    with modify_settings(INSTALLED_APPS={"remove": ["drf_mcp.contrib.resources"]}):
        named = {error.msg.partition(" ")[0] for error in found("drf_mcp.E018")}
    needs = {app.name: getattr(app, "mcp_requires", ()) for app in apps.get_app_configs()}
    assert named == {name for name in needs if "drf_mcp.contrib.resources" in needs[name]}
