"""A session id contains the capabilities of its client; the server stores nothing."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.urls import include, path

from drf_mcp.contrib.asking import waiting
from drf_mcp.exposure import registry
from tests.contrib.asking.handshake import FORMS, PAGES, Host

VISIBLE = re.compile(r"[\x21-\x7e]{1,300}")
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


@pytest.fixture(autouse=True)
def served(settings, db):
    settings.ROOT_URLCONF = type("URLs", (), {"urlpatterns": [path("", include("drf_mcp.urls"))]})
    settings.DRF_MCP = {"PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"]}
    registry.reload()


@pytest.mark.parametrize("declared", [FORMS, PAGES, {"elicitation": {}}])
@pytest.mark.parametrize("revision", ["2025-11-25", "2025-06-18"])
def test_a_client_with_forms_gets_a_session(declared, revision):
    host = Host(declared, revision)
    assert VISIBLE.fullmatch(host.session["Mcp-Session-Id"])
    assert host.post(LIST).status_code == 200


@pytest.mark.parametrize("declared", [{}, {"roots": {}}, {"elicitation": None}, {"sampling": {}}])
def test_a_client_without_forms_gets_no_session(declared):
    host = Host(opens=False)
    params = {"protocolVersion": "2025-11-25", "capabilities": declared, "clientInfo": {}}
    response = host.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    assert "Mcp-Session-Id" not in response


@pytest.mark.parametrize("session", ["made-up", "", "a:b:c"])
def test_an_unknown_session_is_not_found(session):
    host = Host(opens=False)
    host.session = {"Mcp-Session-Id": session}
    response = host.post(LIST)
    assert response.status_code == 404
    assert response.json()["error"]["message"] == "There is no such session: initialize anew."


def test_an_expired_session_is_not_found(monkeypatch):
    host = Host()
    monkeypatch.setattr(waiting, "SECONDS", -1)
    assert host.post(LIST).status_code == 404


def test_the_session_of_another_caller_is_not_found(settings):
    settings.DRF_MCP = {
        "AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"],
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    }
    User.objects.get_or_create(username="mallory")
    host, other = Host(), Host(opens=False)
    other.agent.http.force_login(User.objects.get(username="mallory"))
    other.session = host.session
    assert other.post(LIST).status_code == 404
