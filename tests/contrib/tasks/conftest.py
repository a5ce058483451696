"""A project with workers, and clients with the extension of tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import include, path
from django_tasks_db.models import DBTaskResult
from rest_framework.authtoken.models import Token

from drf_mcp.exposure import registry
from tests.agents import Agent
from tests.contrib.tasks import views

EXTENSION = "io.modelcontextprotocol/tasks"
CAPABILITIES = {"elicitation": {}, "extensions": {EXTENSION: {}}}


class TaskAgent(Agent):
    """A client that declares the extension of tasks."""

    capabilities: Any = CAPABILITIES
    commit: Any = None

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request, and run its callbacks after the commit."""
        meta = {"io.modelcontextprotocol/clientCapabilities": self.capabilities}
        with self.commit(execute=True):
            return super().request(method, _meta=meta, **params)

    def start(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool, and return its task."""
        task = self.result("tools/call", name=tool, arguments=arguments)
        assert task["resultType"] == "task", task
        return task

    def get(self, task: dict[str, Any]) -> dict[str, Any]:
        """Return the state of a task."""
        return self.result("tasks/get", taskId=task["taskId"])

    def answer(self, task: dict[str, Any], **responses: Any) -> None:
        """Answer questions of a task."""
        accepted = {key: {"action": "accept", "content": it} for key, it in responses.items()}
        self.result("tasks/update", taskId=task["taskId"], inputResponses=accepted)


@pytest.fixture(autouse=True)
def served(settings, db):
    urls = [
        path("groups", views.GroupView.as_view()),
        path("report", views.ReportView.as_view()),
        path("required", views.RequiredView.as_view()),
        path("rare", views.RareView.as_view()),
        path("rare-groups", views.RareGroupView.as_view()),
        path("deferring-groups", views.DeferringGroupView.as_view()),
        path("rare-deferring", views.RareDeferringView.as_view()),
        path("import", views.ImportView.as_view()),
        path("deletion", views.QuestionView.as_view()),
        path("two", views.two_questions),
        path("stoppable", views.StoppableView.as_view()),
        path("awaiting", views.AwaitingView.as_view()),
        path("panic", views.PanicView.as_view()),
        path("broken", views.BrokenView.as_view()),
        path("users/<int:pk>", views.DeletionView.as_view()),
        path("", include("drf_mcp.urls")),
    ]
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": urls})
    settings.DRF_MCP = {"TASKS_BACKEND": "background"}
    registry.reload()
    views.SEEN.clear()


@pytest.fixture
def user() -> User:
    found = User.objects.create_user("tina")
    found.user_permissions.add(Permission.objects.get(codename="add_group"))
    return found


@pytest.fixture
def agent_of(django_capture_on_commit_callbacks) -> Callable[..., TaskAgent]:
    """Return an agent with the token of a user, or without a token."""

    def make(user: User | None, **headers: str) -> TaskAgent:
        if user is not None:
            headers["Authorization"] = f"Token {Token.objects.get_or_create(user=user)[0].key}"
        made = TaskAgent(Client(headers=headers))
        made.commit = django_capture_on_commit_callbacks
        return made

    return make


@pytest.fixture
def agent(agent_of, user) -> TaskAgent:
    return agent_of(user)


@pytest.fixture
def work() -> Callable[[], int]:
    """Run the jobs of the queue, as a worker does, and return their number."""

    def run() -> int:
        waiting = list(DBTaskResult.objects.ready())
        for job in waiting:
            job.claim("this process")
            job.task.call(*job.task_result.args, **job.task_result.kwargs)
            job.set_successful(None)
        return len(waiting)

    return run
