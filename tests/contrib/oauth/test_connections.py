"""The page on which a person sees and disconnects the clients that act for them."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.utils import timezone
from oauth2_provider.models import get_access_token_model, get_grant_model, get_refresh_token_model

from drf_mcp.contrib.oauth.backends import AgentValidator
from drf_mcp.contrib.oauth.models import Connection, find_connections, recorder


def page(project, user: User | None = None) -> str:
    browser = project.make_browser(user or project.user)
    return browser.get("/o/connections/").content.decode()


def test_a_stranger_logs_in_first(project):
    answer = project.make_browser(None).get("/o/connections/")
    assert answer["Location"].startswith("/api-auth/login/")


def test_a_connected_client_is_shown_with_its_scopes_and_times(project):
    project.sign_in(scope="shop refunds")
    shown = page(project)
    for part in ("Agent of Ada", "agent.example", "Pay money back", "Work with the shop"):
        assert part in shown
    connection = Connection.objects.get()
    assert connection.since <= connection.last_used


def test_a_person_sees_only_their_own_connections(project):
    project.sign_in()
    assert "Agent of Ada" not in page(project, User.objects.create_user("eve"))


def test_the_last_use_is_recorded_at_most_once_a_minute(project):
    token = project.sign_in()["access_token"]
    long_ago = timezone.now() - timedelta(days=3)
    Connection.objects.update(last_used=long_ago)
    recorder.written.clear()
    assert project.list_tools(token) == 200
    used = Connection.objects.get().last_used
    assert used > long_ago
    assert project.list_tools(token) == 200
    assert Connection.objects.get().last_used == used


def test_a_call_succeeds_where_its_use_cannot_be_recorded(project, monkeypatch, caplog):
    token = project.create_token()

    def refuse(*args, **kwargs):
        raise DatabaseError("read-only")

    monkeypatch.setattr(Connection.objects, "update_or_create", refuse)
    with caplog.at_level(logging.WARNING, "drf_mcp"):
        assert project.list_tools(token) == 200
    assert "could not be recorded" in caplog.text


@pytest.mark.slow
def test_a_disconnected_client_has_no_tokens(project):
    tokens = project.sign_in()
    project.consent()
    pk = Connection.objects.get().pk
    answer = project.browser.post(f"/o/connections/{pk}/disconnect/")
    assert answer["Location"] == "/o/connections/"
    assert project.list_tools(tokens["access_token"]) == 401
    for model in (get_access_token_model(), get_refresh_token_model(), get_grant_model()):
        assert not model.objects.exists()
    assert "No program acts for you." in page(project)
    assert project.refresh(tokens["refresh_token"])["error"] == "invalid_grant"


def test_a_person_cannot_disconnect_the_clients_of_others(project):
    project.sign_in()
    connection = Connection.objects.get()
    eve = project.make_browser(User.objects.create_user("eve"))
    assert eve.post(f"/o/connections/{connection.pk}/disconnect/").status_code == 404
    assert project.browser.get(f"/o/connections/{connection.pk}/disconnect/").status_code == 405
    assert Connection.objects.exists()


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_a_client_may_revoke_its_tokens(project, kind):
    tokens = project.sign_in()
    sent = {"token": tokens[kind], "client_id": "agent"}
    assert project.make_browser(None).post("/o/revoke_token/", sent).status_code == 200
    assert project.list_tools(tokens["access_token"]) == 401
    assert project.refresh(tokens["refresh_token"])["error"] == "invalid_grant"
    assert "No program acts for you." in page(project)


def test_a_refresh_token_used_by_two_requests_at_once_ends_the_connection(project, monkeypatch):
    """Both were validated before either has made its tokens."""
    first = project.sign_in()
    validate, others = AgentValidator.validate_refresh_token, []

    def refresh_meanwhile(self, *args, **kwargs):
        is_good = validate(self, *args, **kwargs)
        if not others:
            others.append(None)
            others[0] = project.refresh(first["refresh_token"])
        return is_good

    monkeypatch.setattr(AgentValidator, "validate_refresh_token", refresh_meanwhile)
    assert project.refresh(first["refresh_token"])["error"] == "invalid_grant"
    (other,) = others
    assert project.list_tools(other["access_token"]) == 401
    assert project.refresh(other["refresh_token"])["error"] == "invalid_grant"
    assert not find_connections(project.user).exists()
