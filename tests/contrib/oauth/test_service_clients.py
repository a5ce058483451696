"""Clients that sign in without a person, as the user whom an administrator named."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from oauth2_provider.models import get_access_token_model, get_application_model

from drf_mcp.access.authentication import NO_USER
from tests.contrib.oauth.conftest import ENDPOINT


def make(*arguments: str) -> dict[str, str]:
    out = StringIO()
    call_command("mcp_service_client", "gateway", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue() or "{}")


def sign_in(project, client: dict[str, str], **sent: Any) -> str:
    body = {"grant_type": "client_credentials", "resource": ENDPOINT, **client, **sent}
    response = project.make_browser(None).post("/o/token/", body)
    assert response.status_code == 200, response.content
    return response.json()["access_token"]


def call(project, token: str, tool: str = "orders_get") -> Any:
    message, headers = project.agent(token).frame("tools/call", {"name": tool, "arguments": {}})
    return project.agent(token).post(message, headers)


@pytest.fixture
def client(project) -> dict[str, str]:
    return make("--user", "ada", "--tools", "orders_*")


def test_it_acts_as_its_user_with_its_tools_alone(project, client):
    agent = project.agent(sign_in(project, client))
    assert agent.call("orders_get").data == {"by": "ada"}
    listed = {tool["name"] for tool in agent.result("tools/list")["tools"]}
    assert listed - {"content_retrieve"} == {"orders_get", "orders_post", "orders_delete"}
    assert agent.call("notes_create", name="x").code == "FORBIDDEN"


@pytest.mark.parametrize(("resource", "status"), [(ENDPOINT, 401), ("", 403)])
def test_it_has_no_user_over_plain_http(project, client, resource, status):
    token = sign_in(project, client, resource=resource)
    headers = {"authorization": f"Bearer {token}"}
    assert project.list_tools(token) == 200
    assert project.make_browser(None).get("/orders/", headers=headers).status_code == status


def test_a_client_without_a_service_account_is_nobody_and_not_who_registered_it(project):
    row = project.register(
        registration_source="manual",
        user=project.user,
        client_type="confidential",
        authorization_grant_type="client-credentials",
        client_secret="secret",
    )
    token = sign_in(project, {"client_id": row.client_id, "client_secret": "secret"})
    answer = call(project, token)
    assert answer.status_code == 403
    assert NO_USER in answer.content.decode()


def test_it_is_refused_when_its_user_is_not_active(project, client):
    token = sign_in(project, client)
    project.user.is_active = False
    project.user.save()
    assert call(project, token).status_code == 401


def test_a_second_time_changes_its_tools_and_keeps_its_secret(project, client):
    again = make("--user", "ada", "--tools", "notes_*")
    assert again == {"client_id": client["client_id"]}
    assert project.agent(sign_in(project, client)).call("orders_get").code == "FORBIDDEN"


def test_a_deleted_client_has_no_tokens(project, client):
    token = sign_in(project, client)
    assert make("--delete") == {}
    assert project.list_tools(token) == 401
    assert not get_access_token_model().objects.exists()
    with pytest.raises(CommandError, match="no client 'gateway'"):
        make("--delete")


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--user", "ada"], "needs --user and --tools"),
        (["--user", "adda", "--tools", "*"], "ada"),
        (["--user", "ada", "--tools", ""], "Narrowing"),
    ],
)
def test_a_client_that_is_not_whole_is_not_made(project, arguments, fault):
    with pytest.raises(CommandError, match=fault):
        make(*arguments)
    assert get_application_model().objects.count() == 1


def test_its_secret_is_stored_as_a_hash(client):
    row = get_application_model().objects.get(client_id=client["client_id"])
    assert row.client_secret != client["client_secret"]


def test_a_client_gets_a_token_where_the_project_has_no_default_scopes(
    project, client, configure, settings
):
    configure(DEFAULT_SCOPES=[])
    settings.DRF_MCP = {**settings.DRF_MCP, "SCOPES": []}
    assert call(project, sign_in(project, client)).json()["result"]
