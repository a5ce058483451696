"""Rules about calls that a worker makes later."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User
from django.core import mail
from django.test import Client
from django.urls import include, path
from django_tasks_db.models import DBTaskResult
from rest_framework import serializers
from rest_framework.authtoken.models import Token
from rest_framework.generics import DestroyAPIView
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import call_context, mcp_tool
from drf_mcp.contrib.rules import Ruling, rule
from drf_mcp.contrib.rules.models import Proposal
from drf_mcp.contrib.rules.proposal_store import ProposalStore
from drf_mcp.contrib.rules.proposing import run_proposal
from drf_mcp.contrib.tasks import TASKS_EXTENSION
from drf_mcp.exposure import registry
from tests.agents import Agent

CAPABILITIES = {"extensions": {TASKS_EXTENSION: {}}, "elicitation": {"form": {}}}
META = {"io.modelcontextprotocol/clientCapabilities": CAPABILITIES}


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


def test_a_worker_sends_the_mail_to_approvers(agent, django_capture_on_commit_callbacks):
    rule("groups_destroy")(lambda call: Ruling.ask("People look at it."))
    User.objects.create_superuser("dora", "dora@shop.example.com")
    group = Group.objects.create(name="a group")
    with django_capture_on_commit_callbacks(execute=True):
        agent.result("tools/call", name="groups_destroy", arguments={"pk": group.pk}, _meta=META)
    if not Proposal.objects.exists():
        work()
    assert Proposal.objects.exists()
    assert mail.outbox == []
    work()
    assert "dora@shop.example.com" in mail.outbox[0].bcc


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


def test_a_call_that_a_worker_proposes_is_shown_to_the_credential_that_left_it(
    agent, django_capture_on_commit_callbacks
):
    @rule("groups_destroy")
    def ask_for_some(call):
        return Ruling.ask("People look at it.") if call.object.name == "kept" else None

    group = Group.objects.create(name="a group")
    call = {"name": "groups_destroy", "arguments": {"pk": group.pk}}
    with django_capture_on_commit_callbacks(execute=True):
        agent.result("tools/call", **call, _meta=META)
    Group.objects.update(name="kept")
    work()
    row = Proposal.objects.get()
    assert agent.call("proposals_retrieve", id=row.pk).data["status"] == "waiting"
    assert Group.objects.exists()


def test_a_task_that_waits_for_an_approval_does_not_count_as_unfinished(agent, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_RUNNING_TASKS": 1}

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


@mcp_tool(name="groups_start")
class GroupStart(APIView):
    """Start a job."""

    def post(self, request) -> Response:
        group = Group.objects.create(name="a job")
        return Response({"id": group.pk}, status=202, headers={"Location": f"/jobs/{group.pk}"})


@mcp_tool(name="groups_report", dry_run=True)
class GroupReport(APIView):
    def post(self, request) -> Response:
        Group.objects.create(name="reported")
        return Response([{"id": number, "note": "about the weather " * 5} for number in range(600)])


class Job(APIView):
    def get(self, request, pk) -> Response:
        return Response({"status": "running"})


class ReasonSerializer(serializers.Serializer):
    reason = serializers.CharField()


@mcp_tool(name="groups_asking")
class AskingView(APIView):
    """Make a group, and ask in every call that is no dry run."""

    def post(self, request) -> Response:
        if not call_context(request).dry_run:
            call_context(request).ask(ReasonSerializer, "Why?")
        return Response({"id": Group.objects.create(name="asked").pk})


@pytest.fixture(params=["a worker", "the caller"])
def approved(request, agent, settings, monkeypatch):
    """Call a tool that has to be approved, approve the call, and return the proposal once made."""
    urls = settings.ROOT_URLCONF.urlpatterns
    urls += [path("start", GroupStart.as_view()), path("jobs/<int:pk>", Job.as_view())]
    urls += [path("asking", AskingView.as_view()), path("report", GroupReport.as_view())]
    registry.reload()
    if request.param == "the caller":
        monkeypatch.setattr("drf_mcp.contrib.rules.proposing.keep_request", lambda *args: None)

    def approve(name: str) -> Proposal:
        rule(name)(lambda call: Ruling.ask("People look at it."))

        def call():
            return agent.result("tools/call", name=name, arguments={}, _meta=META)

        call()
        row = Proposal.objects.get()
        row = ProposalStore().approve(row, User.objects.get(username="admin"), row.fingerprint)
        if request.param == "the caller":
            assert call()["resultType"] == "complete"
        else:
            run_proposal(row.pk)
        row.refresh_from_db()
        return row

    return approve


def test_the_job_of_an_approved_call_is_in_the_result_of_the_proposal(approved, agent):
    row = approved("groups_start")
    made = Group.objects.get(name="a job")
    assert row.status == "done"
    assert row.answer["result"]["structuredContent"]["data"] == {"id": made.pk}
    task = agent.result("tasks/get", taskId=row.task_id, _meta=META)
    assert task["result"]["resultType"] == task["resultType"] == "complete"


@pytest.mark.parametrize("approved", ["a worker"], indirect=True)
def test_the_result_of_a_proposal_is_as_long_as_that_of_the_call(approved, agent, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "ARCHIVE_CLASS": "drf_mcp.archives.DatabaseArchive"}
    row = approved("groups_report")
    result = agent.result("tools/call", name="proposals_retrieve", arguments={"id": row.pk})
    retrieved = result["structuredContent"]
    assert "content_fidelity" not in retrieved["meta"]
    answer = retrieved["data"]["answer"]["result"]
    assert answer["structuredContent"] == row.answer["result"]["structuredContent"]
    # It is given once.
    assert answer["content"] == []


def test_an_approved_call_that_asks_its_caller_fails(approved):
    row = approved("groups_asking")
    assert (row.status, Group.objects.filter(name="asked").exists()) == ("failed", False)
    assert "it asks its caller" in str(row.answer)


def test_a_task_ends_where_the_call_is_refused_before_the_rules(agent, settings):
    """Such as by a throttle of the endpoint."""

    @rule("groups_destroy")
    def ask(call):
        return Ruling.ask("People look at it.")

    group = Group.objects.create(name="a group")
    call = {"name": "groups_destroy", "arguments": {"pk": group.pk}}
    agent.result("tools/call", **call, _meta=META)
    row = Proposal.objects.get()
    ProposalStore().approve(row, User.objects.get(username="admin"), row.fingerprint)
    settings.DRF_MCP = {**settings.DRF_MCP, "READ_ONLY": True}
    run_proposal(row.pk)
    row.refresh_from_db()
    assert row.status == "failed"
    settings.DRF_MCP = {**settings.DRF_MCP, "READ_ONLY": False}
    task = agent.result("tasks/get", taskId=row.task_id, _meta=META)
    assert task["status"] == "completed"
    assert task["result"]["isError"]
