"""Callers with a session cookie: REST framework's CSRF check applies at the endpoint."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import path
from rest_framework.test import APIClient

from tests.agents import Agent
from tests.parity.probes import Probe

TOKEN = "k" * 32


@pytest.fixture
def probe(expose):
    probe = Probe.looking()
    expose(path("probe/", probe.as_view()))
    return probe


@pytest.fixture
def browser(db) -> APIClient:
    """A browser in which alice is logged in."""
    browser = APIClient(enforce_csrf_checks=True)
    browser.force_login(User.objects.get(username="alice"))
    browser.cookies["csrftoken"] = TOKEN
    return browser


@pytest.mark.parametrize("tool", ["probe_get", "probe_post"])
def test_a_call_with_the_csrf_token_is_the_users(probe, browser, tool):
    browser.defaults["HTTP_X_CSRFTOKEN"] = TOKEN
    assert Agent(browser).call_with(tool, {}).data == {"user": "alice"}


@pytest.mark.parametrize("tool", ["probe_get", "probe_post", None])
@pytest.mark.parametrize("header", [None, "x" * 32])
def test_a_call_or_list_without_the_csrf_token_is_refused_before_the_view(
    probe, browser, tool, header
):
    """Tools that read are called by POST as well."""
    if header:
        browser.defaults["HTTP_X_CSRFTOKEN"] = header
    agent = Agent(browser)
    frame = ("tools/call", {"name": tool, "arguments": {}}) if tool else ("tools/list", {})
    response = agent.post(*agent.frame(*frame))
    assert response.status_code == 403
    assert "CSRF" in response.json()["error"]["message"]
    assert probe.seen == []


def test_a_token_in_the_authorization_header_needs_no_csrf_token(probe, browser, http_of):
    http = http_of("bob")
    http.handler.enforce_csrf_checks = True
    http.cookies = browser.cookies
    assert Agent(http).call_with("probe_post", {}).data == {"user": "bob"}


def test_an_ended_session_is_anonymous(probe, browser):
    browser.session.flush()
    browser.defaults["HTTP_X_CSRFTOKEN"] = TOKEN
    assert Agent(browser).call_with("probe_get", {}).data == {"user": "AnonymousUser"}


def test_a_session_keeps_what_a_view_writes(expose, browser):
    def count(request) -> int:
        request.session["count"] = request.session.get("count", 0) + 1
        return request.session["count"]

    probe = Probe.looking(count)
    expose(path("probe/", probe.as_view()))
    browser.defaults["HTTP_X_CSRFTOKEN"] = TOKEN
    Agent(browser).call_with("probe_post", {})
    browser.post("/probe/")
    Agent(browser).call_with("probe_get", {})
    assert probe.seen == [1, 2, 3]
    assert browser.session["count"] == 3
