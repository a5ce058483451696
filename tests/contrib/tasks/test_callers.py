"""A task belongs to its caller, who is authenticated again when the task runs."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from rest_framework.authtoken.models import Token

from drf_mcp.contrib.tasks.models import CallTask
from drf_mcp.contrib.tokens.models import AgentToken
from tests.contrib.tasks import views
from tests.contrib.tokens.holders import issue_token

GONE = {"code": 401, "message": "The caller of the task is no longer let in."}


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_another_caller_cannot_use_a_task(agent, agent_of, method):
    task = agent.start("report")
    other = agent_of(User.objects.create_user("other"))
    error = other.error(method, taskId=task["taskId"], inputResponses={})
    assert (error["code"], error["message"]) == (-32602, "There is no such task.")
    assert agent.get(task)["status"] == "working"


def test_a_task_runs_as_its_caller(agent, work, user):
    task = agent.start("report")
    work()
    assert agent.get(task)["result"]["structuredContent"]["data"]["user"] == "tina"
    assert [{"user": user.pk, "auth": Token.objects.get(user=user)}] == views.SEEN


def test_a_task_has_the_request_of_its_caller_without_the_credential(agent_of, user, work):
    headers = {"Host": "localhost", "Accept-Language": "de", "X-Tenant": "north"}
    agent = agent_of(user, **headers)
    task = agent.start("report")
    key = Token.objects.get(user=user).key
    assert key not in str(CallTask.objects.values())
    work()
    data = agent.get(task)["result"]["structuredContent"]["data"]
    assert data == {
        "user": "tina",
        "url": "http://localhost/x",
        "language": "de",
        "tenant": "north",
        "authorization": "",
    }


def test_permissions_are_checked_again_when_the_task_runs(agent, user, work):
    task = agent.start("groups_create", name="editors")
    user.user_permissions.remove(Permission.objects.get(codename="add_group"))
    work()
    envelope = agent.get(task)["result"]["structuredContent"]
    assert envelope["data"]["error_code"] == "FORBIDDEN"


def test_the_task_of_an_inactive_caller_fails(agent, user, work):
    task = agent.start("report")
    User.objects.update(is_active=False)
    work()
    User.objects.update(is_active=True)
    found = agent.get(task)
    assert (found["status"], found["error"]) == ("failed", GONE)
    assert views.SEEN == []


def test_the_task_of_a_deleted_credential_fails(agent, user, work):
    task = agent.start("report")
    Token.objects.all().delete()
    work()
    assert CallTask.objects.get().answer == {"error": GONE}
    assert task["taskId"] == CallTask.objects.get().task_id


def test_the_task_of_a_revoked_agent_token_fails(agent_of, user, work):
    token, key = issue_token(user)
    agent = agent_of(None, Authorization=f"Bearer {key}")
    agent.start("report")
    token.revoke()
    work()
    assert CallTask.objects.get().answer == {"error": GONE}


def test_a_task_is_narrowed_as_its_agent_token_is(agent_of, user, work):
    _, key = issue_token(user)
    agent = agent_of(None, Authorization=f"Bearer {key}")
    task = agent.start("report")
    AgentToken.objects.update(read_only=True)
    work()
    envelope = CallTask.objects.get().answer["result"]["structuredContent"]
    assert envelope["data"]["error_code"] == "FORBIDDEN"
    assert views.SEEN == []
    assert agent.error("tasks/get", taskId=task["taskId"])["message"] == "There is no such task."


@pytest.mark.parametrize("name", ["rare", "rare_deferring"])
def test_the_throttle_of_the_view_counts_a_task_once(agent, work, name):
    task = agent.start(name)
    work()
    assert agent.get(task)["result"]["structuredContent"]["data"] == {"done": True}
    assert agent.call(name).code == "RATE_LIMIT_EXCEEDED"


def test_the_throttle_of_the_endpoint_counts_a_task_once(agent, work, settings):
    settings.DRF_MCP = {
        **settings.DRF_MCP,
        "THROTTLE_CLASSES": ["tests.contrib.tasks.views.OncePerDay"],
    }
    task = agent.start("report")
    work()
    assert agent.get(task)["result"]["structuredContent"]["success"]
    assert agent.call("report").code == "RATE_LIMIT_EXCEEDED"


def test_an_anonymous_caller_reads_a_task_by_its_id(agent_of, settings, work):
    settings.DRF_MCP = {
        "TASKS_BACKEND": "background",
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    }
    task = agent_of(None).start("audit_required")
    work()
    assert agent_of(None).get(task)["status"] == "completed"


# --- Permissions that change after the call ---------------------------------------------------


def test_a_result_is_refused_while_the_permissions_of_its_caller_differ(agent, user, work):
    task = agent.start("report")
    work()
    assert agent.get(task)["status"] == "completed"
    user.user_permissions.clear()
    found = agent.get(task)
    assert (found["status"], found["error"]["code"]) == ("failed", 403)
    assert "result" not in found
    # The result is kept, because the permission may be granted again.
    user.user_permissions.add(Permission.objects.get(codename="add_group"))
    assert agent.get(task)["status"] == "completed"


def test_the_refusal_of_a_successful_call_says_that_its_change_was_made(agent, user, work):
    task = agent.start("groups_create", name="editors")
    work()
    User.objects.filter(pk=user.pk).update(is_staff=True)
    assert "is not made again" in agent.get(task)["error"]["message"]


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_a_token_for_other_tools_cannot_use_the_task_of_its_user(agent_of, agent, user, method):
    task = agent.start("report")
    _, key = issue_token(user)
    AgentToken.objects.update(tools=["groups_*"])
    other = agent_of(None, Authorization=f"Bearer {key}")
    error = other.error(method, taskId=task["taskId"], inputResponses={})
    assert error["message"] == "There is no such task."
