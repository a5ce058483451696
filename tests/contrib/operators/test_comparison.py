"""One call compared as several users: who may compare, which tools, and what is recorded."""

from __future__ import annotations

import json
import logging

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client

from drf_mcp.contrib.audit.auditor import Auditor
from drf_mcp.contrib.audit.models import AuditedCall

URL = "/mcp?show=comparison"
COMPARISON = {"tool": "customers_list", "arguments": {}, "users": ["alice", "bob"]}


@pytest.fixture
def superuser(db, settings) -> User:
    settings.DRF_MCP = {**settings.DRF_MCP, "BROWSABLE_PAGE": True}
    carol = User.objects.get(username="carol")
    carol.is_superuser = True
    carol.save()
    return carol


def browser_of(user: User | str, **options) -> Client:
    client = Client(**options)
    client.force_login(user if isinstance(user, User) else User.objects.get(username=user))
    return client


def compare(client: Client, **changes):
    return client.post(URL, json.dumps({**COMPARISON, **changes}), content_type="application/json")


def test_each_user_is_answered_with_the_rows_of_that_user(superuser):
    response = compare(browser_of(superuser))
    assert response["Cache-Control"] == "no-store"
    answers = response.json()["answers"]
    assert [answer["user"] for answer in answers] == ["alice", "bob"]
    for answer in answers:
        rows = answer["body"]["result"]["structuredContent"]["data"]["results"]
        assert {row["owned_by"] for row in rows} == {answer["user"]}


def test_an_anonymous_caller_is_refused_as_by_the_endpoint(superuser):
    (answer,) = compare(browser_of(superuser), users=["anonymous"]).json()["answers"]
    assert answer["body"]["error"]["code"] == 401


@pytest.mark.parametrize("username", ["alice", "carol"])
def test_neither_users_nor_staff_may_compare(superuser, username):
    superuser.is_superuser = False
    superuser.save()
    response = compare(browser_of(username))
    assert response.status_code == 403
    assert "Only a superuser" in response.json()["error"]["message"]


def test_a_superuser_with_a_token_may_not_compare(superuser):
    token = superuser.auth_token.key
    response = compare(Client(headers={"Authorization": f"Token {token}"}))
    assert response.status_code == 403
    assert "Only a superuser" in response.json()["error"]["message"]


def test_a_comparison_needs_a_csrf_token(superuser, monkeypatch):
    strict = browser_of(superuser, enforce_csrf_checks=True)
    assert compare(strict).status_code == 403
    # An authentication class that checks no CSRF token changes nothing.
    target = "rest_framework.authentication.SessionAuthentication.authenticate"
    monkeypatch.setattr(target, lambda self, request: (request._request.user, None))
    assert compare(strict).status_code == 403


def test_there_is_no_comparison_without_the_page(superuser, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "BROWSABLE_PAGE": False}
    body = compare(browser_of(superuser)).json()
    assert "answers" not in body
    assert "error" in body


@pytest.mark.parametrize("tool", ["orders_create", "customers_destroy", "quote", "nothing"])
def test_only_tools_that_a_get_serves_are_compared(superuser, tool):
    response = compare(browser_of(superuser), tool=tool)
    assert response.status_code == 400
    assert "no tool of this endpoint that a GET serves" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    "changes",
    [{"users": ["nobody"]}, {"users": ["alice"] * 3}, {"users": []}, {"arguments": [1]}],
    ids=["unknown", "many", "none", "arguments"],
)
def test_a_malformed_comparison_is_refused(superuser, changes):
    assert compare(browser_of(superuser), **changes).status_code == 400


def test_an_inactive_user_cannot_be_compared(superuser):
    User.objects.filter(username="bob").update(is_active=False)
    assert compare(browser_of(superuser)).status_code == 400


def test_the_log_and_the_audit_name_both_users(superuser, caplog, monkeypatch):
    monkeypatch.setattr(apps.get_app_config("drf_mcp_audit"), "auditor", Auditor())
    with caplog.at_level(logging.WARNING, "drf_mcp.calls"):
        compare(browser_of(superuser, headers={"user-agent": "Browser of carol"}))
    assert "customers_list called as bob by carol" in caplog.messages
    rows = list(AuditedCall.objects.filter(tool="customers_list").order_by("pk"))
    assert [(row.user_label, row.client_name) for row in rows] == [
        ("alice", "compared by carol"),
        ("bob", "compared by carol"),
    ]
    assert {row.user_agent for row in rows} == {"Browser of carol"}
