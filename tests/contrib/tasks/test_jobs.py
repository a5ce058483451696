"""A response 202 with the URL of a job is a task; requests of its caller read the job."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponseRedirect
from django.urls import include, path
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.contrib.tasks.jobs import UNFINISHED, normalize
from drf_mcp.contrib.tasks.models import CallTask
from drf_mcp.exposure import mcp_tool, registry


@mcp_tool(name="exports_start", dry_run=True)
class ExportsView(APIView):
    """Starts an export, as a view without tasks does."""

    permission_classes = [IsAuthenticated]
    location: ClassVar[str | None] = "/exports/7"
    data: ClassVar[Any] = {"id": 7}
    status: ClassVar[int] = 202

    def post(self, request):
        headers = {"Location": self.location} if self.location else {}
        return Response(self.data, status=self.status, headers=headers)


@mcp_tool(name="exports_retrieve")
class ExportView(APIView):
    """Shows the state of an export."""

    permission_classes = [IsAuthenticated]
    answers: ClassVar[list[Any]] = []
    requests: ClassVar[list[Any]] = []

    def get(self, request, pk):
        self.requests.append((request.user, pk, dict(request.query_params)))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer if not isinstance(answer, dict) else Response(answer)


@mcp_tool(name="files_retrieve")
class FileView(APIView):
    def get(self, request, name):
        return Response({"file": name})


@pytest.fixture(autouse=True)
def served(served, settings, monkeypatch):
    urls = [
        path("exports", ExportsView.as_view()),
        path("exports/<int:pk>", ExportView.as_view()),
        path("files/<str:name>", FileView.as_view()),
        path("", include("drf_mcp.urls")),
    ]
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": urls})
    registry.reload()
    monkeypatch.setattr(ExportView, "requests", [])
    monkeypatch.setattr(ExportView, "answers", [{"status": "running"}])


def answer_with(*answers: Any) -> None:
    ExportView.answers[:] = answers


def test_the_url_of_a_job_is_requested_as_the_caller(agent, user):
    task = agent.start("exports_start")
    assert task["status"] == "working"
    found = agent.get(task)
    assert (found["status"], found["statusMessage"]) == ("working", "running")
    answer_with({"status": "done", "rows": 3})
    done = agent.get(task)
    assert done["status"] == "completed"
    assert done["result"]["structuredContent"]["data"] == {"status": "done", "rows": 3}
    assert done["result"]["resultType"] == "complete"
    assert ExportView.requests == [(user, 7, {})] * 2


def test_a_dry_run_makes_no_task_of_a_job(agent):
    """The job that the answer names was rolled back."""
    tried = agent.call("exports_start", dry_run=True)
    assert "dry_run" in tried.envelope["meta"]
    assert not CallTask.objects.exists()


@pytest.mark.parametrize(
    ("location", "data"),
    [
        ("http://testserver/exports/7?part=2", None),
        (None, {"status_url": "/exports/7?part=2"}),
        (None, {"url": "http://testserver/exports/7?part=2"}),
        ("exports/7?part=2", None),
    ],
)
def test_the_url_of_a_job_is_in_the_header_or_in_the_body(agent, monkeypatch, location, data):
    monkeypatch.setattr(ExportsView, "location", location)
    monkeypatch.setattr(ExportsView, "data", data)
    agent.get(agent.start("exports_start"))
    assert ExportView.requests[0][1:] == (7, {"part": ["2"]})


@pytest.mark.parametrize(
    "location",
    [
        None,
        "",
        "http://elsewhere.example/exports/7",
        "/exports/seven",
        "/exports",
        "/nowhere",
        "//elsewhere.example/exports/7",
        "javascript:alert(1)",
    ],
)
def test_a_location_that_is_no_url_of_a_reading_tool_makes_no_task(agent, monkeypatch, location):
    monkeypatch.setattr(ExportsView, "location", location)
    assert agent.call("exports_start").data == {"id": 7}
    assert not CallTask.objects.exists()


def test_a_job_whose_tool_the_caller_may_not_call_makes_no_task(agent_of, user, settings):
    agent = agent_of(user, **{"MCP-Toolsets": "start"})
    settings.DRF_MCP = {**settings.DRF_MCP, "TOOLSETS": {"start": ["exports_start"]}}
    result = agent.result("tools/call", name="exports_start", arguments={})
    assert result.get("resultType") != "task"


def test_a_loop_of_redirects_ends(agent):
    task = agent.start("exports_start")
    answer_with(HttpResponseRedirect("/exports/7"))
    assert agent.get(task)["status"] == "completed"
    assert len(ExportView.requests) == 3


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_url_that_cannot_answer_now_leaves_the_task_working(agent, status):
    task = agent.start("exports_start")
    answer_with(Response({"detail": "later"}, status=status))
    assert agent.get(task)["status"] == "working"


@pytest.mark.parametrize("status", [403, 404, 410])
def test_a_refusal_of_the_url_is_a_failed_result(agent, status):
    task = agent.start("exports_start")
    answer_with(Response({"detail": "no"}, status=status))
    done = agent.get(task)
    assert (done["status"], done["result"]["isError"]) == ("completed", True)


def test_a_url_that_is_gone_from_the_urlconf_fails_the_task(agent, settings):
    task = agent.start("exports_start")
    urls = [path("exports", ExportsView.as_view()), path("", include("drf_mcp.urls"))]
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": urls})
    registry.reload()
    done = agent.get(task)
    assert (done["status"], done["error"]["code"]) == ("failed", 403)


def test_a_job_of_another_caller_is_not_found(agent, agent_of):
    task = agent.start("exports_start")
    other = agent_of(User.objects.create_user("mallory"))
    assert other.error("tasks/get", taskId=task["taskId"])["code"] == -32602
    assert ExportView.requests == []


@pytest.mark.parametrize("state", ["In Progress", "in-progress", " RUNNING ", "queued"])
def test_unfinished_states_are_read_in_any_spelling(state):
    assert normalize(state) in UNFINISHED
