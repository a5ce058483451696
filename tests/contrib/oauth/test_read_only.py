"""The box *Read only* of the consent page: what its tokens open, and for how long."""

from __future__ import annotations

import pytest

from drf_mcp.contrib.oauth.backends import READ_ONLY
from tests.contrib.oauth.conftest import HOST, Project, parameters_of


def assert_reads_only(project: Project, token: str) -> None:
    agent = project.agent(token)
    assert {tool["name"] for tool in agent.result("tools/list")["tools"]} == {"orders_get"}
    assert agent.call("orders_get").data == {"by": "ada"}
    refused = agent.call("orders_post")
    assert refused.code == "FORBIDDEN"
    assert "this connection only has tools that read" in refused.envelope["error"]


def find_connections(project: Project) -> str:
    return project.browser.get("/o/connections/").content.decode()


@pytest.mark.parametrize("sent", [{}, {"scope": "shop"}])
def test_tokens_and_refreshed_tokens_only_read(project, sent):
    tokens = project.sign_in(read_only=True, scope="shop refunds")
    for _ in range(2):
        # The client knows nothing of the scope that says it.
        assert READ_ONLY not in tokens["scope"]
        assert_reads_only(project, tokens["access_token"])
        tokens = project.refresh(tokens["refresh_token"], **sent)


def test_a_connection_is_shown_as_read_only_while_all_its_tokens_only_read(project):
    project.sign_in(read_only=True)
    shown = find_connections(project)
    assert "Read only" in shown
    assert READ_ONLY not in shown
    token = project.sign_in()["access_token"]
    assert "Read only" not in find_connections(project)
    assert not project.agent(token).call("orders_post").is_error


def test_a_client_cannot_ask_for_it(project):
    for more in ({}, {"reads_only": "true"}):
        answer = project.authorize(scope=f"shop {READ_ONLY}", **more)
        assert parameters_of(answer)["error"] == "invalid_scope"


def test_it_reads_over_plain_http_where_the_token_opens_the_host(configure, settings, db):
    configure()
    settings.DRF_MCP = {**settings.DRF_MCP, "RESOURCE": f"https://{HOST}"}
    project = Project()
    for read_only, status in ((False, 201), (True, 401)):
        token = project.sign_in(read_only=read_only, resource=f"https://{HOST}")["access_token"]
        browser = project.make_browser(None)
        headers = {"authorization": f"Bearer {token}"}
        assert browser.get("/orders/", headers=headers).status_code == 200
        assert browser.post("/orders/", headers=headers).status_code == status
