"""A call becomes a task, a worker runs the task, and the caller reads the result."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from django_tasks_db.backend import DatabaseBackend

from drf_mcp.contrib.tasks.models import CallTask
from drf_mcp.contrib.tasks.run import Heartbeat, Run
from drf_mcp.contrib.tasks.task_store import RENEWAL
from tests.contrib.tasks import views
from tests.contrib.tasks.conftest import EXTENSION

MISSING = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}


def test_the_extension_is_declared(agent):
    capabilities = agent.result("server/discover")["capabilities"]
    assert capabilities["extensions"][EXTENSION] == {}
    assert "tasks" not in capabilities


def test_without_workers_tasks_are_not_offered(subtests, agent, settings):
    for backend in ["default", None, "nobody"]:
        with subtests.test(backend=backend):
            settings.DRF_MCP = {"TASKS_BACKEND": backend}
            offered = agent.result("server/discover")["capabilities"]
            assert EXTENSION not in offered.get("extensions", {})
            assert agent.error("tasks/get", taskId="x")["code"] == -32601
            assert agent.call("audit_required").data == {"done": True}


def test_a_call_is_answered_with_a_task_and_run_by_a_worker(agent, work):
    task = agent.start("groups_create", name="editors")
    assert task["status"] == "working"
    assert not Group.objects.filter(name="editors").exists()
    assert agent.get(task)["status"] == "working"
    assert work() == 1
    done = agent.get(task)
    assert done["status"] == "completed"
    assert done["result"]["structuredContent"]["data"]["name"] == "editors"
    assert Group.objects.filter(name="editors").exists()


@pytest.mark.slow
def test_a_failed_call_is_a_completed_task(agent, work):
    task = agent.start("groups_create", name="")
    work()
    done = agent.get(task)
    assert (done["status"], done["result"]["isError"]) == ("completed", True)


def test_a_call_that_stops_its_worker_is_a_failed_task(agent, work):
    task = agent.start("panic")
    with pytest.raises(views.Panic):
        work()
    done = agent.get(task)
    assert done["status"] == "failed"
    assert done["error"] == {"code": -32603, "message": "The work was stopped."}


def test_a_queue_that_is_down_fails_the_call_and_the_task(agent, monkeypatch):
    def refuse(*args, **kwargs):
        raise ConnectionError("nobody there")

    monkeypatch.setattr(DatabaseBackend, "enqueue", refuse)
    with pytest.raises(ConnectionError):
        agent.request("tools/call", name="report", arguments={})
    row = CallTask.objects.get()
    assert (row.status, row.request) == ("failed", {})


def test_a_task_that_is_delivered_twice_is_run_once(agent):
    task = agent.start("report")
    assert Run.begin(task["taskId"]) is not None
    assert Run.begin(task["taskId"]) is None


def test_a_task_expires(agent, work, settings):
    settings.DRF_MCP = {"TASKS_BACKEND": "background", "TASK_TTL": 60}
    task = agent.start("report")
    assert task["ttlMs"] == 60_000
    CallTask.objects.update(expires=timezone.now() - timedelta(seconds=1))
    assert agent.error("tasks/get", taskId=task["taskId"])["code"] == -32602
    work()
    assert views.SEEN == []
    call_command("mcp_expire", verbosity=0)
    assert not CallTask.objects.exists()


def test_the_task_of_a_killed_worker_fails_when_its_lease_ends(agent):
    task = agent.start("groups_create", name="editors")
    assert Run.begin(task["taskId"]) is not None
    assert agent.get(task)["status"] == "working"
    CallTask.objects.update(leased=timezone.now() - timedelta(seconds=1))
    done = agent.get(task)
    assert (done["status"], done["error"]["message"]) == ("failed", "The work was stopped.")
    assert CallTask.objects.get().request == {}


def test_a_running_worker_renews_its_lease(agent):
    task = agent.start("report")
    run = Run.begin(task["taskId"])
    CallTask.objects.update(leased=timezone.now() - timedelta(seconds=1))
    heartbeat = Heartbeat(run)
    heartbeat.look()
    assert CallTask.objects.get().leased < timezone.now()
    heartbeat.renewed -= RENEWAL
    heartbeat.look()
    assert agent.get(task)["status"] == "working"


# --- Clients without tasks ---------------------------------------------------------------------


def test_a_client_without_the_extension_gets_the_result(agent):
    agent.capabilities = {}
    assert agent.call("groups_create", name="editors").data["name"] == "editors"


def test_a_client_without_the_extension_cannot_call_a_tool_that_requires_a_task(agent):
    agent.capabilities = {}
    error = agent.error("tools/call", name="audit_required", arguments={})
    assert (error["code"], error["data"]) == (-32021, MISSING)
    assert EXTENSION in error["message"]


def test_the_handshake_revisions_have_no_tasks(agent):
    agent.revision = "2025-11-25"
    assert agent.call("report").data["user"] == "tina"
    assert agent.error("tasks/get", taskId="x")["code"] == -32601


# --- Cancelling ----------------------------------------------------------------------------------


def test_a_waiting_task_is_cancelled_at_once(agent, work):
    task = agent.start("report")
    agent.result("tasks/cancel", taskId=task["taskId"])
    assert agent.get(task)["status"] == "cancelled"
    work()
    assert views.SEEN == []


@pytest.mark.parametrize(("looks", "status"), [(True, "cancelled"), (False, "completed")])
def test_a_running_task_is_cancelled_where_its_view_checks(agent, work, monkeypatch, looks, status):
    monkeypatch.setattr(views.StoppableView, "looks", looks)
    task = agent.start("stoppable")
    work()
    assert agent.get(task)["status"] == status


def test_an_async_view_is_cancelled_at_its_await(agent, work):
    task = agent.start("awaiting")
    with pytest.raises(asyncio.CancelledError):
        work()
    assert agent.get(task)["status"] == "cancelled"


def test_progress_is_the_status_message(agent):
    task = agent.start("report")
    run = Run.begin(task["taskId"])
    run.make_answer()
    Heartbeat(run).look()
    assert agent.get(task)["statusMessage"] == "3 of 10"


# --- Questions -----------------------------------------------------------------------------------


def test_a_task_asks_and_continues_with_the_answer(agent, work):
    task = agent.start("deletion")
    work()
    asked = agent.get(task)
    assert asked["status"] == "input_required"
    assert asked["inputRequests"]["approval"]["method"] == "elicitation/create"
    agent.answer(task, approval={"approved_by": "ann@example.com"})
    assert agent.get(task)["status"] == "working"
    work()
    data = agent.get(task)["result"]["structuredContent"]["data"]
    assert data == {"by": "ann@example.com"}


def test_questions_can_be_answered_one_by_one(agent, work):
    task = agent.start("two_questions")
    work()
    agent.answer(task, first={"name": "Ann"}, unknown={"name": "x"})
    asked = agent.get(task)
    assert (asked["status"], list(asked["inputRequests"])) == ("input_required", ["second"])
    agent.answer(task, first={"name": "Eve"}, second={"name": "Bob"})
    work()
    data = agent.get(task)["result"]["structuredContent"]["data"]
    assert data == {"first": "Ann", "second": "Bob"}


def test_a_call_is_confirmed_before_it_becomes_a_task(agent, work):
    doomed = User.objects.create_user("doomed")
    params = {"name": "user_delete", "arguments": {"pk": doomed.pk}}
    asked = agent.result("tools/call", **params)
    assert asked["resultType"] == "input_required"
    (key,) = asked["inputRequests"]
    answers = {key: {"action": "accept", "content": {}}}
    state = asked["requestState"]
    task = agent.result("tools/call", **params, inputResponses=answers, requestState=state)
    assert task["resultType"] == "task"
    work()
    assert not User.objects.filter(pk=doomed.pk).exists()
    assert agent.get(task)["status"] == "completed"


# --- Views that defer ---------------------------------------------------------------------------


def test_a_view_defers_a_large_call_and_makes_a_small_one(agent, work):
    assert agent.call("import_rows", rows=5).data == {"rows": 5, "by": ""}
    task = agent.start("import_rows", rows=50)
    work()
    assert agent.get(task)["result"]["structuredContent"]["data"] == {"rows": 50, "by": ""}


@pytest.mark.parametrize("names", [["slow", "quick"], ["quick", "slow"]])
def test_each_of_several_objects_is_made_once(agent, work, names):
    task = agent.start("deferring_groups", items=[{"name": name} for name in names])
    assert not Group.objects.filter(name__in=names).exists()
    work()
    data = agent.get(task)["result"]["structuredContent"]["data"]
    assert [row["name"] for row in data["results"]] == names
    assert Group.objects.filter(name__in=names).count() == 2


def test_writes_before_a_view_defers_are_rolled_back(agent, monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", True)
    agent.start("import_rows", rows=views.WRITING)
    assert not Group.objects.filter(name="too early").exists()
