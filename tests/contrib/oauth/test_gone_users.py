"""Users who are not active any more, and codes that come a second time."""

from __future__ import annotations

import json
from typing import Any

import pytest
from oauth2_provider.models import (
    get_access_token_model,
    get_application_model,
    get_grant_model,
    get_refresh_token_model,
)

from drf_mcp.contrib.oauth.backends import AgentValidator
from tests.contrib.oauth.conftest import Project


def refresh(project: Project, token: str) -> dict[str, Any]:
    sent = {"grant_type": "refresh_token", "client_id": "agent", "refresh_token": token}
    return json.loads(project.make_browser(None).post("/o/token/", sent).content)


@pytest.fixture
def leave(project):
    def leave() -> None:
        project.user.is_active = False
        project.user.save()

    return leave


@pytest.mark.slow
def test_the_tokens_of_a_user_who_is_gone_neither_list_nor_call(project, leave):
    token = project.sign_in()["access_token"]
    assert project.list_tools(token) == 200
    leave()
    assert project.list_tools(token) == 401
    message, headers = project.agent(token).frame("tools/call", {"name": "orders_get"})
    assert project.agent(token).post(message, headers).status_code == 401


def test_a_user_who_is_gone_refreshes_nothing(project, leave):
    tokens = project.sign_in()
    leave()
    assert refresh(project, tokens["refresh_token"])["error"] == "invalid_grant"


def test_a_user_who_comes_back_goes_on(project, leave):
    tokens = project.sign_in()
    leave()
    refresh(project, tokens["refresh_token"])
    project.user.is_active = True
    project.user.save()
    assert project.list_tools(refresh(project, tokens["refresh_token"])["access_token"]) == 200


def test_a_code_of_a_user_who_is_gone_gives_nothing(project, leave):
    code = project.consent()["code"]
    leave()
    assert json.loads(project.exchange(code).content)["error"] == "invalid_grant"
    assert not get_access_token_model().objects.exists()


# --- Codes that were copied ---------------------------------------------------------------------


def test_the_tokens_of_a_code_die_when_it_comes_again(project):
    code = project.consent()["code"]
    first = project.exchange(code).json()
    assert json.loads(project.exchange(code).content)["error"] == "invalid_grant"
    assert project.list_tools(first["access_token"]) == 401
    assert refresh(project, first["refresh_token"])["error"] == "invalid_grant"


@pytest.mark.slow
def test_tokens_that_were_refreshed_since_die_with_the_code(project):
    code = project.consent()["code"]
    first = project.exchange(code).json()
    second = refresh(project, first["refresh_token"])
    project.exchange(code)
    assert project.list_tools(second["access_token"]) == 401
    assert refresh(project, second["refresh_token"])["error"] == "invalid_grant"


@pytest.mark.slow
def test_the_tokens_of_other_codes_live_on(project):
    other = project.sign_in()
    code = project.consent()["code"]
    assert [project.exchange(code).status_code for _ in range(2)] == [200, 400]
    assert project.list_tools(other["access_token"]) == 200
    get_refresh_token_model().objects.update(token_family=None)
    assert json.loads(project.exchange("unheard").content)["error"] == "invalid_grant"
    assert project.list_tools(other["access_token"]) == 200


def test_a_code_of_another_client_ends_nothing(project):
    code = project.consent()["code"]
    first = project.exchange(code).json()
    own = get_application_model().objects.get()
    own.pk, own.client_id = None, "other"
    own.save()
    project.exchange(code, client_id="other")
    assert project.list_tools(first["access_token"]) == 200


def test_of_two_requests_with_one_code_neither_gets_tokens_that_last(project, monkeypatch):
    """Both were found good before either was written."""
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


def test_the_code_itself_is_not_kept(project):
    code = project.consent()["code"]
    project.exchange(code)
    assert code not in get_grant_model().objects.get().code
