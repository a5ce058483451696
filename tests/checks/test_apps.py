"""The check of apps that another app needs."""

from __future__ import annotations

from django.apps import apps
from django.test import modify_settings


def test_a_missing_app_that_another_app_needs_is_named(expose, found):
    expose()
    assert found("drf_mcp.E018") == []
    with modify_settings(INSTALLED_APPS={"remove": ["drf_mcp.contrib.resources"]}):
        named = {error.msg.partition(" ")[0] for error in found("drf_mcp.E018")}
    needs = {app.name: getattr(app, "mcp_requires", ()) for app in apps.get_app_configs()}
    assert named == {name for name in needs if "drf_mcp.contrib.resources" in needs[name]}
