"""Rules about calls that a worker makes later."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import include, path
from django_tasks_db.models import DBTaskResult
from rest_framework.authtoken.models import Token
from rest_framework.generics import DestroyAPIView

from drf_mcp import mcp_tool
from drf_mcp.contrib.rules import Ruling, rule
from drf_mcp.contrib.tasks import TASKS_EXTENSION
from drf_mcp.contrib.tasks.task_store import TaskStore
from tests.agents import Agent

META = {"io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS_EXTENSION: {}}}}


@mcp_tool(name="groups_destroy", task="required")
class GroupDeletion(DestroyAPIView):
    queryset = Group.objects.all()


@pytest.fixture
def agent(expose, settings, db) -> Agent:
    expose(
        path("groups/<int:pk>", GroupDeletion.as_view()),
        path("", include("drf_mcp.urls")),
        TASKS_BACKEND="background",
    )
    token = Token.objects.create(user=User.objects.create_user("tina"))
    return Agent(Client(headers={"Authorization": f"Token {token.key}"}))


def work() -> None:
    for job in DBTaskResult.objects.ready():
        job.task.call(*job.task_result.args, **job.task_result.kwargs)


@pytest.mark.parametrize("name", ["kept", "spare"])
def test_the_rules_see_the_object_when_the_worker_makes_the_call(
    agent, django_capture_on_commit_callbacks, name
):
    @rule("groups_destroy")
    def keep_some(call):
        return Ruling.refuse("It is kept.") if call.object.name == "kept" else None

    group = Group.objects.create(name="a group")
    with django_capture_on_commit_callbacks(execute=True):
        task = agent.result(
            "tools/call", name="groups_destroy", arguments={"pk": group.pk}, _meta=META
        )
    Group.objects.update(name=name)
    work()
    result = agent.result("tasks/get", taskId=task["taskId"], _meta=META)["result"]
    assert result.get("isError", False) is (name == "kept")
    assert Group.objects.exists() is (name == "kept")


def test_a_task_that_waits_for_an_approval_does_not_count_as_unfinished(agent, monkeypatch):
    monkeypatch.setattr(TaskStore, "max_unfinished", 1)

    @rule("groups_destroy")
    def ask_for_some(call):
        return Ruling.ask("People look at it.") if call.object.name == "kept" else None

    groups = [Group.objects.create(name=name) for name in ("kept", "spare", "other")]

    def destroy(group):
        call = {"name": "groups_destroy", "arguments": {"pk": group.pk}}
        return agent.result("tools/call", **call, _meta=META)

    proposed = destroy(groups[0])["structuredContent"]["data"]["task"]
    assert agent.result("tasks/get", taskId=proposed, _meta=META)["status"] == "working"
    assert destroy(groups[1])["status"] == "working"
    refused = destroy(groups[2])["structuredContent"]
    assert refused["data"]["error_code"] == "RATE_LIMIT_EXCEEDED"
