"""Which tokens are accepted, where, and how the others are refused."""

from __future__ import annotations

import hashlib
import sys
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import path
from django.utils import timezone
from django.views.debug import ExceptionReporter
from rest_framework.authentication import SessionAuthentication
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import APIView

from drf_mcp.checks.project import Project
from drf_mcp.contrib.tokens import models
from drf_mcp.contrib.tokens.authentication import AgentTokenAuthentication
from drf_mcp.contrib.tokens.feature import PLACE, check_tokens_are_taken
from drf_mcp.contrib.tokens.models import AgentToken
from tests.agents import Agent

HOUR = timedelta(hours=1)
TOKEN = "rest_framework.authentication.TokenAuthentication"
SESSION = "rest_framework.authentication.SessionAuthentication"


class WhoAmIView(APIView):
    """Show the user of the request."""

    def get(self, request) -> Response:
        kind = type(request.successful_authenticator).__name__
        return Response({"user": str(request.user), "auth": str(request.auth), "by": kind})


def refusal_of(agent: Agent, method: str = "tools/list", **params) -> tuple[int, str, str]:
    """Return the status, the message and the challenge of a refused request."""
    response = agent.post(*agent.frame(method, params))
    message = agent.read(method, response)["error"]["message"]
    return response.status_code, message, response.get("WWW-Authenticate", "")


def test_the_view_sees_the_user_the_token_and_the_class(expose, issue, holder):
    expose(path("who/", WhoAmIView.as_view()), PERMISSION_CLASSES=[])
    token, key = issue("alice")
    data = holder(key).call("who").data
    assert data == {"user": "alice", "auth": str(token), "by": "AgentTokenAuthentication"}


def test_only_a_hash_of_the_key_is_stored(issue):
    token, key = issue()
    row = AgentToken.objects.filter(pk=token.pk).values().get()
    secret = key.removeprefix(f"mcp_{token.prefix}_")
    assert len(secret) == 43
    assert row["digest"] == hashlib.sha256(key.encode()).hexdigest()
    assert not [value for value in row.values() if secret in str(value)]


def test_the_hash_is_compared_in_constant_time(issue, monkeypatch):
    compared = []

    def compare(one: str, other: str) -> bool:
        compared.append((one, other))
        return False

    monkeypatch.setattr(models, "constant_time_compare", compare)
    token, key = issue()
    assert AgentToken.objects.find(key) is None
    assert compared == [(token.digest, token.digest)]


def test_a_key_that_differs_is_refused(subtests, issue, holder):
    for wrong in ["other secret", "cut", "longer", "other case"]:
        with subtests.test(wrong=wrong):
            _, key = issue()
            changed = {
                "other secret": key[:13] + "x" * 43,
                "cut": key[:-1],
                "longer": f"{key}x",
                "other case": key[:13] + key[13:].swapcase(),
            }
            status, message, challenge = refusal_of(holder(changed[wrong]))
            assert (status, message) == (401, "The token is not valid.")
            assert challenge


def test_an_unknown_prefix_is_refused_with_the_same_message(issue, holder):
    _, key = issue()
    other = key.replace(key[4:12], "00000000")
    assert refusal_of(holder(other))[:2] == (401, "The token is not valid.")


def test_a_revoked_or_expired_token_or_another_network_is_refused(subtests, issue, holder):
    for options, message in [
        ({"revoked": timezone.now()}, "The token was revoked."),
        ({"expires": timezone.now() - HOUR}, "The token has expired."),
        ({"networks": ["203.0.113.0/24"]}, "The token is not taken from this network address."),
    ]:
        with subtests.test(options=options, message=message):
            status, found, challenge = refusal_of(holder(issue(**options)[1]))
            assert (status, found) == (401, message)
            assert challenge


def test_a_token_of_an_inactive_user_is_refused(issue, holder):
    token, key = issue()
    token.user.is_active = False
    token.user.save()
    assert refusal_of(holder(key))[:2] == (401, "The token's user is not active.")


@pytest.mark.slow
def test_the_challenge_names_bearer_where_the_class_is_first(issue, expose, holder, settings):
    settings.REST_FRAMEWORK = {
        **settings.REST_FRAMEWORK,
        "DEFAULT_AUTHENTICATION_CLASSES": [PLACE, SESSION],
    }
    token, key = issue()
    token.revoke()
    assert refusal_of(holder(key))[2] == 'Bearer realm="api", error="invalid_token"'
    assert refusal_of(Agent(Client()))[2] == 'Bearer realm="api"'


def test_networks_are_compared_with_the_address_of_the_connection(subtests, issue):
    for networks, address, taken in [
        (["203.0.113.0/24"], "203.0.113.9", True),
        (["203.0.113.0/24"], "203.0.114.9", False),
        (["198.51.100.7", "203.0.113.0/24"], "203.0.113.9", True),
        (["203.0.113.0/24"], "::ffff:203.0.113.9", True),
        (["2001:db8::/32"], "2001:db8::1", True),
        (["2001:db8::/32"], "203.0.113.9", False),
        (["203.0.113.0/24"], "", False),
        (["203.0.113.0/24"], "unix:", False),
        ([], "", True),
    ]:
        with subtests.test(networks=networks, address=address, taken=taken):
            token, _ = issue(networks=networks)
            assert (token.find_fault(address) == "") is taken


@pytest.mark.slow
def test_no_header_changes_the_address_of_a_caller(issue, holder):
    _, key = issue(networks=["203.0.113.0/24"])
    agent = holder(key)
    body, headers = agent.frame("tools/list", {})
    for name in ("X-Forwarded-For", "X-Real-IP", "Forwarded", "CF-Connecting-IP"):
        assert agent.post(body, {**headers, name: "203.0.113.9"}).status_code == 401
    assert holder(key, REMOTE_ADDR="203.0.113.9").tools()


# --- Other credentials ----------------------------------------------------------------------


@pytest.mark.parametrize("key", ["abc", "mcp_short", "mcp_AB12CD34_x", "eyJh.eyJz.c2ln", ""])
def test_other_tokens_are_left_to_the_next_classes(rf, key):
    request = rf.post("/mcp", headers={"authorization": f"Bearer {key}"})
    assert AgentTokenAuthentication().authenticate(request) is None


# --- Plain HTTP -------------------------------------------------------------------------------


def test_no_token_is_accepted_over_plain_http(subtests, issue):
    for address in ["/api/customers/", "/api/"]:
        with subtests.test(address=address):
            _, key = issue("admin")
            response = Client(headers={"authorization": f"Bearer {key}"}).get(address)
            assert response.status_code == 401
            assert "taken by the MCP endpoint alone" in str(response.json())


def test_no_header_makes_a_plain_request_a_call_of_a_tool(issue):
    _, key = issue("admin")
    headers = {"authorization": f"Bearer {key}", "is-mcp-request": "True", "mcp-method": "ping"}
    assert Client(headers=headers).get("/api/customers/?is_mcp_request=1").status_code == 401


def test_the_key_opens_neither_the_admin_site_nor_the_page_of_tokens(issue):
    _, key = issue("admin")
    client = Client(headers={"authorization": f"Bearer {key}"})
    assert client.get("/admin/").status_code == 302
    assert client.post("/mcp/tokens/", {"name": "another"}).status_code == 302
    assert AgentToken.objects.count() == 1


# --- The last use -------------------------------------------------------------------------------


def writes_of(agent: Agent) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        agent.call("customers_list", page_size=1)
    return [q["sql"] for q in queries.captured_queries if q["sql"].startswith("UPDATE")]


def test_the_last_use_is_written_at_most_once_a_minute(issue, holder):
    agent = holder(issue()[1])
    assert [len(writes_of(agent)) for _ in range(3)] == [1, 0, 0]
    AgentToken.objects.update(last_used=timezone.now() - timedelta(seconds=61))
    assert len(writes_of(agent)) == 1


def test_a_call_succeeds_where_its_use_cannot_be_recorded(issue, holder, monkeypatch, caplog):
    def fail(self, **values):
        raise DatabaseError("attempt to write a readonly database")

    monkeypatch.setattr(models.AgentTokenQuerySet, "update", fail)
    token, key = issue()
    assert not holder(key).call("stats").is_error
    assert f"The use of mcp_{token.prefix} was not noted" in caplog.text
    assert key not in caplog.text


# --- Secrets ----------------------------------------------------------------------------------


def test_neither_logs_nor_responses_have_the_key(issue, holder, settings, caplog):
    settings.DRF_MCP = {**settings.DRF_MCP, "LOG_ARGUMENTS": True}
    caplog.set_level("DEBUG")
    token, key = issue()
    agent = holder(key)
    answers = [str(agent.call("customers_list", page_size=1).raw)]
    token.revoke()
    answers.append(str(refusal_of(agent)))
    secret = key.rpartition("_")[2]
    assert not [text for text in (*answers, caplog.text) if secret in text]


def report_of(request) -> str:
    """Return the report of an error that Django would send to the administrators."""
    try:
        AgentTokenAuthentication().authenticate(request)
    except RuntimeError:
        reporter = ExceptionReporter(request, *sys.exc_info())
        return reporter.get_traceback_text() + reporter.get_traceback_html()
    raise AssertionError("it works")


def test_error_reports_of_django_do_not_show_the_key(issue, rf, monkeypatch, settings):
    def fail(self, address):
        raise RuntimeError("broken")

    monkeypatch.setattr(AgentToken, "find_fault", fail)
    _, key = issue()
    request = rf.post("/mcp", headers={"authorization": f"Bearer {key}"})
    request.is_mcp_request = True
    settings.DEBUG = False
    report = report_of(request)
    assert "find_fault" in report
    assert key.rpartition("_")[2] not in report


# --- Views without the class --------------------------------------------------------------------


class SessionView(WhoAmIView):
    """Show the user of a session."""

    authentication_classes = [SessionAuthentication]


class ChosenView(WhoAmIView):
    """Show the user, with classes that a method returns."""

    def get_authenticators(self):
        return [SessionAuthentication()]


@pytest.fixture
def endpoint_alone(expose, settings):
    """Serve an endpoint with the class, and views without it."""
    settings.REST_FRAMEWORK = {
        **settings.REST_FRAMEWORK,
        "DEFAULT_AUTHENTICATION_CLASSES": [TOKEN, SESSION],
    }
    usual = type("UsualView", (WhoAmIView,), {})
    usual.authentication_classes = api_settings.DEFAULT_AUTHENTICATION_CLASSES
    usual.permission_classes = [IsAuthenticated]
    expose(
        path("usual/", usual.as_view()),
        path("session/", SessionView.as_view()),
        path("chosen/", ChosenView.as_view()),
        AUTHENTICATION_CLASSES=[PLACE, TOKEN, SESSION],
    )


@pytest.mark.usefixtures("endpoint_alone")
@pytest.mark.parametrize("name", ["usual", "session", "chosen"])
def test_a_view_without_the_class_accepts_no_token(holder_of, name):
    agent = holder_of("alice")
    assert name not in agent.tools()
    assert agent.call(name).code in ("UNAUTHORIZED", "FORBIDDEN")


@pytest.mark.usefixtures("endpoint_alone")
def test_over_http_a_view_without_the_class_refuses_the_key(issue):
    client = Client(headers={"authorization": f"Bearer {issue()[1]}"})
    assert client.get("/usual/").status_code == 401


def test_a_check_warns_of_an_endpoint_that_accepts_no_token(settings):
    assert list(check_tokens_are_taken(Project())) == []
    settings.REST_FRAMEWORK = {"DEFAULT_AUTHENTICATION_CLASSES": [SESSION]}
    assert [found.id for found in check_tokens_are_taken(Project())] == ["drf_mcp_tokens.W001"]


@pytest.mark.usefixtures("endpoint_alone")
def test_a_check_warns_of_views_that_accept_no_token_of_the_endpoint():
    [found] = list(check_tokens_are_taken(Project()))
    assert found.id == "drf_mcp_tokens.W001"
    assert "such as the view of usual" in found.msg
