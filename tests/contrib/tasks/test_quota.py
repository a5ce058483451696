"""The limits of the tasks of a caller."""

from __future__ import annotations

from drf_mcp.contrib.tasks.models import CallTask
from drf_mcp.contrib.tasks.task_store import TaskStore


def test_an_unfinished_task_beyond_the_limit_is_refused(agent, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_RUNNING_TASKS": 2}
    for _ in range(2):
        agent.start("groups_create", name="editors")
    result = agent.call("groups_create", name="editors")
    assert result.code == "RATE_LIMIT_EXCEEDED"
    assert "Wait for one, or cancel one." in result.envelope["error"]
    assert CallTask.objects.count() == 2


def test_a_task_beyond_the_limit_of_stored_tasks_is_refused(agent, work, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_TASKS": 1}
    agent.start("groups_create", name="editors")
    work()
    result = agent.call("groups_create", name="editors")
    assert result.code == "RATE_LIMIT_EXCEEDED"
    assert result.data["retry_after_seconds"] > 0


def test_calls_at_the_same_time_do_not_pass_the_limit_together(agent, settings, monkeypatch):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_RUNNING_TASKS": 1}
    check = TaskStore.check_bounds

    def check_only_after(self, holder, more=1):
        # Both calls have asked before either has made its task.
        return None if more else check(self, holder, more)

    monkeypatch.setattr(TaskStore, "check_bounds", check_only_after)
    for call in [("groups_create", {"name": "editors"}), ("import_rows", {"rows": 100})]:
        CallTask.objects.all().delete()
        agent.start(call[0], **call[1])
        assert agent.call(call[0], **call[1]).code == "RATE_LIMIT_EXCEEDED"
        assert CallTask.objects.count() == 1


def test_the_limit_counts_the_user_and_not_the_tenant(agent, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_RUNNING_TASKS": 1}
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "tests.contrib.tasks.views.choose_tenant"]
    agent.http.defaults["HTTP_X_TENANT"] = "first"
    agent.start("groups_create", name="editors")
    agent.http.defaults["HTTP_X_TENANT"] = "second"
    assert agent.call("groups_create", name="editors").code == "RATE_LIMIT_EXCEEDED"
