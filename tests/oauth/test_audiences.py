"""A token is good where it was asked for: at the endpoint, and in its tools."""

from __future__ import annotations

import pytest
from django.urls import path

from drf_mcp.views import MCPView
from tests.oauth.conftest import ENDPOINT, Project


def api(project: Project, token: str) -> int:
    browser = project.make_browser(None)
    return browser.get("/orders/", headers={"authorization": f"Bearer {token}"}).status_code


def test_a_token_for_the_endpoint_calls_its_tools(project):
    agent = project.agent(project.give())
    assert agent.call("orders_get").data == {"by": "ada"}


def test_a_token_for_the_endpoint_is_refused_by_the_api(project):
    assert api(project, project.give()) == 401


@pytest.mark.parametrize("resource", ["https://shop.example", None])
def test_a_token_for_the_host_is_good_for_both(project, resource):
    token = project.give(resource)
    assert (project.list_tools(token), api(project, token)) == (200, 200)
    assert project.agent(token).call("orders_get").data == {"by": "ada"}


@pytest.mark.parametrize("resource", ["https://evil.example/mcp", "https://shop.example/other"])
def test_a_token_for_another_resource_is_refused(project, resource):
    token = project.give(resource)
    assert (project.list_tools(token), api(project, token)) == (401, 401)


def test_a_token_of_one_endpoint_is_refused_at_another(configure, db):
    configure(path("staff/mcp", MCPView.as_view()))
    project = Project()
    token = project.give()
    assert project.list_tools(token) == 200
    assert project.list_tools(token, "/staff/mcp") == 401


def test_an_argument_is_no_token(project):
    token = project.give()
    params = {"name": "orders_post", "arguments": {"access_token": token}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    browser = project.make_browser(None)
    assert browser.post("/mcp", message, "application/json").status_code == 401


def test_a_token_in_the_address_is_refused(project):
    token = project.give(None)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    browser = project.make_browser(None)
    response = browser.post(f"/mcp?access_token={token}", message, "application/json")
    assert response.status_code == 401


def test_clients_get_tokens_for_the_endpoint(project):
    token = project.sign_in()["access_token"]
    assert (project.list_tools(token), api(project, token)) == (200, 401)


def test_the_endpoint_itself_is_named_in_the_token(project):
    from oauth2_provider.models import get_access_token_model

    project.sign_in()
    assert get_access_token_model().objects.get().resource == [ENDPOINT]
