"""Every check is documented, and has a hint."""

from __future__ import annotations

import re
from pathlib import Path

from django.core.checks import run_checks
from django.urls import include, path

import drf_mcp
from drf_mcp.views import MCPView

PACKAGE = Path(drf_mcp.__file__).parent
PAGE = PACKAGE.parent / "docs" / "checks.md"
ID = re.compile(r"drf_mcp\.[EWI]\d{3}")


def documented() -> list[str]:
    return re.findall(rf"^\| `({ID.pattern})` \|", PAGE.read_text(), re.M)


def test_each_check_has_one_row():
    used = {id for source in PACKAGE.rglob("*.py") for id in ID.findall(source.read_text())}
    assert documented() == sorted(used)


def test_every_message_has_a_hint(settings):
    settings.ALLOWED_HOSTS = ["*"]
    settings.MIDDLEWARE = ["tests.checks.middleware.RequireLogin"]
    endpoints = [path("", include("drf_mcp.urls")), path("x", MCPView.as_view())]
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": endpoints})
    # Settings that cannot be read are the only message.
    for given, least in (({"EXPOSE": "all"}, 1), ({"PERMISSION_CLASSES": []}, 3)):
        settings.DRF_MCP = given
        messages = run_checks(tags=["drf_mcp"], include_deployment_checks=True)
        assert len({message.id for message in messages}) >= least, given
        assert [message.id for message in messages if not message.hint] == []
