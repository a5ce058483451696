"""Clients listen for tasks."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from drf_mcp.access.scopes import make_user_key
from drf_mcp.contrib.tasks import TASKS_EXTENSION
from drf_mcp.contrib.tasks.models import CallTask
from drf_mcp.contrib.tasks.task_store import FAILED, TaskStore
from tests.agents import Agent

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("served")]

DECLARED = {"io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS_EXTENSION: {}}}}


@pytest.fixture(autouse=True)
def workers(served, settings, monkeypatch):
    """Switch tasks on, and let each request declare their extension."""
    settings.DRF_MCP = {**settings.DRF_MCP, "TASKS_BACKEND": "background"}
    frame = Agent.frame

    def declare(agent: Agent, method: str, params: Any = None) -> Any:
        meta = {**DECLARED, **(params or {}).get("_meta", {})}
        return frame(agent, method, {**(params or {}), "_meta": meta})

    monkeypatch.setattr(Agent, "frame", declare)


def make_task(user: Any) -> CallTask:
    return TaskStore().create(make_user_key(user), "teams_list", {})


def test_a_changed_task_is_notified_as_tasks_get_shows_it(listen, eve):
    row = make_task(eve)
    first, notification = listen(lambda: TaskStore().cancel(row), taskIds=[row.task_id])
    assert first["params"]["notifications"] == {"taskIds": [row.task_id]}
    assert notification["method"] == "notifications/tasks"
    params = notification["params"]
    assert params["_meta"] == {"io.modelcontextprotocol/subscriptionId": 7}
    assert (params["taskId"], params["status"]) == (row.task_id, "cancelled")
    assert {"createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs"} < params.keys()


def test_the_notification_has_the_result(listen, eve):
    row = make_task(eve)
    error = {"error": {"code": -32603, "message": "no"}}
    _, notification = listen(lambda: TaskStore().finish(row, FAILED, error), taskIds=[row.task_id])
    assert (notification["params"]["status"], notification["params"]["error"]["message"]) == (
        "failed",
        "no",
    )


def test_a_task_of_another_caller_is_not_acknowledged(listen, eve, django_user_model):
    row = make_task(django_user_model.objects.create_user("mallory"))
    (first,) = listen(count=1, taskIds=[row.task_id, "x"])
    assert first["params"]["notifications"] == {}


def test_the_result_of_a_task_is_not_sent_to_an_inactive_caller(listen, eve):
    row = make_task(eve)

    def change() -> None:
        User.objects.filter(pk=eve.pk).update(is_active=False)
        TaskStore().finish(row, FAILED, {"error": {"code": -32603, "message": "no"}})

    _, last = listen(change, taskIds=[row.task_id])
    assert last["result"]["resultType"] == "complete"
