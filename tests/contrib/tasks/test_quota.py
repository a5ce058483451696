"""The limits of the tasks of a caller."""

from __future__ import annotations

from django.contrib.auth.models import Permission, User

from drf_mcp.contrib.tasks.models import CallTask
from drf_mcp.contrib.tasks.task_store import TaskStore


def test_an_unfinished_task_beyond_the_limit_is_refused(agent, monkeypatch):
    monkeypatch.setattr(TaskStore, "max_unfinished", 2)
    for _ in range(2):
        agent.start("groups_create", name="editors")
    result = agent.call("groups_create", name="editors")
    assert result.code == "RATE_LIMIT_EXCEEDED"
    assert "Wait for one, or cancel one." in result.envelope["error"]
    assert CallTask.objects.count() == 2


def test_a_completed_task_does_not_count_as_unfinished(agent, work, monkeypatch):
    monkeypatch.setattr(TaskStore, "max_unfinished", 1)
    agent.start("groups_create", name="editors")
    work()
    assert agent.start("groups_create", name="editors")["status"] == "working"


def test_a_task_beyond_the_limit_of_stored_tasks_is_refused(agent, work, monkeypatch):
    monkeypatch.setattr(TaskStore, "max_kept", 1)
    agent.start("groups_create", name="editors")
    work()
    result = agent.call("groups_create", name="editors")
    assert result.code == "RATE_LIMIT_EXCEEDED"
    assert result.data["retry_after_seconds"] > 0


def test_a_call_that_its_view_defers_is_refused_beyond_the_limit(agent, monkeypatch):
    monkeypatch.setattr(TaskStore, "max_unfinished", 0)
    result = agent.call("import_rows", rows=100)
    assert result.code == "RATE_LIMIT_EXCEEDED"
    assert not agent.call("import_rows", rows=1).is_error


def test_the_tasks_of_another_caller_do_not_count(agent, agent_of, monkeypatch):
    monkeypatch.setattr(TaskStore, "max_unfinished", 1)
    agent.start("groups_create", name="editors")
    other = User.objects.create_user("toni")
    other.user_permissions.add(Permission.objects.get(codename="add_group"))
    assert agent_of(other).start("groups_create", name="editors")["status"] == "working"
