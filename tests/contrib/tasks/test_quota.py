"""How many tasks a caller may have."""

from __future__ import annotations

from django.contrib.auth.models import Permission, User

from drf_mcp.contrib.tasks.models import CallTask
from drf_mcp.contrib.tasks.task_store import TaskStore


def test_one_unfinished_task_more_than_there_may_be_is_refused(agent, monkeypatch):
    monkeypatch.setattr(TaskStore, "max_unfinished", 2)
    for _ in range(2):
        agent.start("groups_create", name="editors")
    result = agent.call("groups_create", name="editors")
    assert result.code == "RATE_LIMIT_EXCEEDED"
    assert "Wait for one, or cancel one." in result.envelope["error"]
    assert CallTask.objects.count() == 2


def test_a_task_that_ended_makes_room(agent, work, monkeypatch):
    monkeypatch.setattr(TaskStore, "max_unfinished", 1)
    agent.start("groups_create", name="editors")
    work()
    assert agent.start("groups_create", name="editors")["status"] == "working"


def test_tasks_that_are_kept_have_a_limit_too(agent, work, monkeypatch):
    monkeypatch.setattr(TaskStore, "max_kept", 1)
    agent.start("groups_create", name="editors")
    work()
    result = agent.call("groups_create", name="editors")
    assert result.code == "RATE_LIMIT_EXCEEDED"
    assert result.data["retry_after_seconds"] > 0


def test_a_view_that_defers_itself_is_refused_as_by_a_throttle(agent, monkeypatch):
    monkeypatch.setattr(TaskStore, "max_unfinished", 0)
    result = agent.call("import_rows", rows=100)
    assert result.code == "RATE_LIMIT_EXCEEDED"
    assert not agent.call("import_rows", rows=1).is_error


def test_another_caller_has_tasks_of_their_own(agent, agent_of, monkeypatch):
    monkeypatch.setattr(TaskStore, "max_unfinished", 1)
    agent.start("groups_create", name="editors")
    other = User.objects.create_user("toni")
    other.user_permissions.add(Permission.objects.get(codename="add_group"))
    assert agent_of(other).start("groups_create", name="editors")["status"] == "working"
