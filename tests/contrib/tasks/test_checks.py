"""The check warns of options without an effect."""

from __future__ import annotations

import dataclasses

from django.core.checks import run_checks
from django.urls import path

from drf_mcp.exposure import registry
from tests.contrib.tasks import views


def find_warnings() -> list[str]:
    return [found.msg for found in run_checks(tags=["drf_mcp"]) if found.id == "drf_mcp.W030"]


def test_a_required_task_without_workers_is_a_warning(settings):
    settings.DRF_MCP = {"TASKS_BACKEND": "default"}
    (message,) = find_warnings()
    assert message.startswith('The tool audit_required has task="required"')


def test_the_option_defers_without_a_task_is_a_warning(settings, monkeypatch):
    own = views.ImportView.mcp_tool
    without = dataclasses.replace(own, features={**own.features, "task": None})
    monkeypatch.setattr(views.ImportView, "mcp_tool", without)
    registry.reload()
    assert find_warnings() == ["The tool import_rows has defers=True, but no task: its calls wait."]


def test_a_task_of_a_decorated_view_is_a_warning_and_is_answered_in_the_call(
    settings, agent_of, user
):
    closed = path("closed", views.closing(views.ClosedView.as_view()))
    urls = [*settings.ROOT_URLCONF.urlpatterns, closed]
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": urls})
    registry.reload()
    (message,) = find_warnings()
    assert message.startswith('The tool closed has task="optional", but a decorator')
    assert agent_of(user, **{"X-Key": "1"}).call("closed").data == {"done": True}
    assert agent_of(user).call("closed").code == "FORBIDDEN"
