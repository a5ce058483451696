"""Every message of a check has a hint."""

from __future__ import annotations

import pytest
from django.core.checks import run_checks
from django.urls import include, path

from drf_mcp.views import MCPView


# Settings that cannot be read are the only message.
@pytest.mark.parametrize("given", [{"EXPOSE": "all"}, {"PERMISSION_CLASSES": []}])
def test_every_message_has_a_hint(settings, given):
    settings.DRF_MCP, settings.ALLOWED_HOSTS = given, ["*"]
    settings.MIDDLEWARE = ["tests.checks.middleware.RequireLogin"]
    endpoints = [path("", include("drf_mcp.urls")), path("x", MCPView.as_view())]
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": endpoints})
    messages = run_checks(tags=["drf_mcp"], include_deployment_checks=True)
    assert messages
    assert [message.id for message in messages if not message.hint] == []
