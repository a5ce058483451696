"""Tokens of users who are not active any more, and codes that are used a second time."""

from __future__ import annotations

import json

import pytest
from oauth2_provider.models import get_access_token_model, get_application_model

from drf_mcp.contrib.oauth.backends import AgentValidator


@pytest.fixture
def deactivate(project):
    def deactivate() -> None:
        project.user.is_active = False
        project.user.save()

    return deactivate


@pytest.mark.slow
def test_the_tokens_of_an_inactive_user_neither_list_nor_call(project, deactivate):
    token = project.sign_in()["access_token"]
    assert project.list_tools(token) == 200
    deactivate()
    assert project.list_tools(token) == 401
    message, headers = project.agent(token).frame("tools/call", {"name": "orders_get"})
    assert project.agent(token).post(message, headers).status_code == 401


def test_an_inactive_user_cannot_refresh(project, deactivate):
    tokens = project.sign_in()
    deactivate()
    assert project.refresh(tokens["refresh_token"])["error"] == "invalid_grant"


def test_a_code_of_an_inactive_user_gives_no_token(project, deactivate):
    code = project.consent()["code"]
    deactivate()
    assert json.loads(project.exchange(code).content)["error"] == "invalid_grant"
    assert not get_access_token_model().objects.exists()


# --- Codes that are used twice ------------------------------------------------------------------


def test_the_second_use_of_a_code_revokes_its_tokens(project):
    code = project.consent()["code"]
    first = project.exchange(code).json()
    assert json.loads(project.exchange(code).content)["error"] == "invalid_grant"
    assert project.list_tools(first["access_token"]) == 401
    assert project.refresh(first["refresh_token"])["error"] == "invalid_grant"


@pytest.mark.slow
def test_the_second_use_of_a_code_revokes_refreshed_tokens(project):
    code = project.consent()["code"]
    first = project.exchange(code).json()
    second = project.refresh(first["refresh_token"])
    project.exchange(code)
    assert project.list_tools(second["access_token"]) == 401
    assert project.refresh(second["refresh_token"])["error"] == "invalid_grant"


def test_a_code_sent_by_another_client_revokes_nothing(project):
    code = project.consent()["code"]
    first = project.exchange(code).json()
    own = get_application_model().objects.get()
    own.pk, own.client_id = None, "other"
    own.save()
    project.exchange(code, client_id="other")
    assert project.list_tools(first["access_token"]) == 200


def test_two_requests_at_once_with_one_code_leave_no_tokens(project, monkeypatch):
    """Both requests find the code valid before either request spends it."""
    code, answers = project.consent()["code"], []
    spend = AgentValidator.invalidate_authorization_code

    def spend_after_the_other(self, client_id, code, request, *args, **kwargs):
        if not answers:
            answers.append(None)
            answers[0] = project.exchange(code)
        spend(self, client_id, code, request, *args, **kwargs)

    monkeypatch.setattr(AgentValidator, "invalidate_authorization_code", spend_after_the_other)
    assert project.exchange(code).status_code == 400
    assert answers[0].status_code == 200
    assert not get_access_token_model().objects.exists()
