"""Tokens of users who are not active any more."""

from __future__ import annotations

import json

import pytest
from oauth2_provider.models import get_access_token_model


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
