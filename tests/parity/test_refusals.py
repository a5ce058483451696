"""A caller whom the endpoint refuses gets an HTTP status, and no code of a view runs."""

from __future__ import annotations

import functools

import pytest
from django.urls import path
from django.views.decorators.cache import cache_page
from rest_framework.authentication import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.test import APIClient

from drf_mcp.exposure import registry
from tests.agents import Agent
from tests.parity.probes import KeyAuthentication, Probe

CLOSED = {"PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"]}
METHODS = [
    ("tools/call", {"name": "probe_get", "arguments": {}}),
    ("tools/call", {"name": "probe_post", "arguments": {"body": {}}}),
    ("tools/call", {"name": "probe_get", "arguments": {"unknown": 1}}),
    ("tools/call", {"name": "no_such_tool", "arguments": {}}),
    ("tools/list", {}),
    ("server/discover", {}),
    ("no/such/method", {}),
]


def send(agent: Agent, method: str = "tools/call", params: dict | None = None):
    params = params or {"name": "probe_get", "arguments": {}}
    return agent.post(*agent.frame(method, params))


def assert_challenged(response) -> None:
    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Token")
    assert "error" in response.json()


@pytest.mark.parametrize(("method", "params"), METHODS)
@pytest.mark.parametrize("closed", [True, False])
def test_a_bad_token_gets_401_for_every_method(db, expose, method, params, closed):
    probe = Probe.looking()
    expose(path("probe/", probe.as_view()), **(CLOSED if closed else {}))
    agent = Agent(APIClient(headers={"authorization": "Token bad"}))
    assert_challenged(send(agent, method, params))
    assert probe.seen == []


@pytest.mark.parametrize(("method", "params"), METHODS)
def test_a_missing_token_gets_401_if_one_is_needed(agent_of, expose, method, params):
    probe = Probe.looking()
    expose(path("probe/", probe.as_view()), **CLOSED)
    assert_challenged(send(agent_of(None), method, params))
    assert probe.seen == []


@pytest.mark.parametrize("classes", [[KeyAuthentication], [TokenAuthentication, KeyAuthentication]])
def test_an_authenticator_may_answer_403(db, expose, classes):
    """It may be an authentication class of the endpoint or only of the view."""
    probe = Probe.looking(authentication_classes=[KeyAuthentication])
    expose(path("probe/", probe.as_view()), AUTHENTICATION_CLASSES=classes)
    response = send(Agent(APIClient(headers={"x-key": "banned"})))
    assert (response.status_code, probe.seen) == (403, [])
    assert response.json()["error"]["message"] == "This key is banned."


@pytest.mark.parametrize("tool", ["probe_get", "no_such_tool"])
def test_a_valid_credential_without_a_user_is_answered_with_the_reason(db, expose, tool):
    view = Probe.looking(authentication_classes=[KeyAuthentication]).as_view()
    key = f"{KeyAuthentication.__module__}.{KeyAuthentication.__qualname__}"
    expose(path("probe/", view), AUTHENTICATION_CLASSES=[key], **CLOSED)
    agent = Agent(APIClient(headers={"x-key": "machine read"}))
    response = send(agent, params={"name": tool, "arguments": {}})
    assert response.status_code == 403
    message = response.json()["error"]["message"]
    assert message.startswith("The credential is valid, but belongs to no user")
    assert "PERMISSION_CLASSES" in message


class Closed(BasePermission):
    """Refuses with its own message."""

    message = "Not on Sundays."

    def has_permission(self, request, view) -> bool:
        return request.user.is_staff


def test_permissions_of_the_endpoint_are_checked_before_the_view_and_have_their_message(
    agent_of, expose
):
    probe = Probe.looking()
    expose(path("probe/", probe.as_view()), PERMISSION_CLASSES=[Closed])
    response = send(agent_of("alice"))
    assert (response.status_code, probe.seen) == (403, [])
    assert response.json()["error"]["message"] == "Not on Sundays."
    assert "WWW-Authenticate" not in response.headers
    assert not agent_of("carol").call_with("probe_get", {}).is_error


def record_step(step):
    def note(self, *args, **kwargs):
        self.seen.append(step)
        return getattr(super(type(self), self), step)(*args, **kwargs)

    return note


STEPS = [
    "dispatch",
    "setup",
    "initialize_request",
    "initial",
    "get_authenticators",
    "perform_content_negotiation",
    "determine_version",
    "perform_authentication",
    "get_permissions",
    "check_permissions",
    "check_throttles",
]


@pytest.mark.parametrize("step", STEPS)
def test_no_step_of_a_view_runs_for_a_refused_caller(agent_of, expose, step):
    probe = Probe.looking(**{step: record_step(step)})
    expose(path("probe/", probe.as_view()), **CLOSED)
    assert registry.tool("probe_get").input_schema
    probe.seen.clear()  # describing the tool runs steps as well
    assert_challenged(send(agent_of(None)))
    assert probe.seen == []
    assert not agent_of("alice").call_with("probe_get", {}).is_error
    assert step in probe.seen


def test_a_view_without_authentication_does_not_admit_a_refused_caller(agent_of, expose):
    probe = Probe.looking(perform_authentication=lambda self, request: None)
    expose(path("probe/", probe.as_view()), **CLOSED)
    assert_challenged(send(agent_of(None)))
    assert_challenged(send(Agent(APIClient(headers={"authorization": "Token bad"}))))
    assert probe.seen == []


def test_a_view_without_authentication_classes_does_not_admit_a_refused_caller(agent_of, expose):
    probe = Probe.looking(authentication_classes=[])
    expose(path("probe/", probe.as_view()), **CLOSED)
    assert_challenged(send(agent_of(None)))
    assert agent_of("alice").call_with("probe_get", {}).data == {"user": "AnonymousUser"}
    assert len(probe.seen) == 1


def test_a_cached_page_is_not_for_a_refused_caller(agent_of, expose):
    probe = Probe.looking()
    expose(path("probe/", cache_page(60)(probe.as_view())), **CLOSED)
    first = agent_of("alice").call_with("probe_get", {})
    assert agent_of("alice").call_with("probe_get", {}).data == first.data
    assert len(probe.seen) == 1
    assert_challenged(send(agent_of(None)))


def test_a_decorator_does_not_run_for_a_refused_caller(agent_of, expose):
    probe = Probe.looking()
    view, ran = probe.as_view(), []

    @functools.wraps(view)
    def decorated(request, *args, **kwargs):
        ran.append(request)
        return view(request, *args, **kwargs)

    expose(path("probe/", decorated), **CLOSED)
    assert_challenged(send(agent_of(None)))
    assert ran == []
    agent_of("alice").call_with("probe_get", {})
    assert len(ran) == len(probe.seen) == 1


def test_an_exception_that_is_being_handled_outside_is_not_the_callers(agent_of, expose):
    probe = Probe.looking()
    expose(path("probe/", probe.as_view()))
    agent = agent_of("alice")
    try:
        raise AuthenticationFailed("Some other service said so.")
    except AuthenticationFailed:
        result = agent.call_with("probe_get", {})
    assert result.data == {"user": "alice"}
