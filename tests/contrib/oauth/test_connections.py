"""The page on which a person sees and disconnects the clients that act for them."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from oauth2_provider.models import get_access_token_model, get_grant_model, get_refresh_token_model

from drf_mcp.contrib.oauth.backends import AgentValidator


def page(project, user: User | None = None) -> str:
    browser = project.make_browser(user or project.user)
    return browser.get("/o/connections/").content.decode()


def test_a_stranger_logs_in_first(project):
    answer = project.make_browser(None).get("/o/connections/")
    assert answer["Location"].startswith("/api-auth/login/")


def test_a_connected_client_is_shown_with_its_scopes_and_last_token(project):
    project.sign_in(scope="shop refunds")
    (token,) = get_access_token_model().objects.all()
    shown = page(project)
    for part in ("Agent of Ada", "agent.example", "Pay money back", "Work with the shop"):
        assert part in shown
    assert f'datetime="{token.created:%Y-%m-%dT%H:%M}' in shown


def test_a_person_sees_only_their_own_connections(project):
    project.sign_in()
    assert "Agent of Ada" not in page(project, User.objects.create_user("eve"))


@pytest.mark.slow
def test_a_disconnected_client_has_no_tokens(project):
    tokens = project.sign_in()
    project.consent()
    answer = project.browser.post("/o/connections/", {"client": "agent"})
    assert answer["Location"] == "/o/connections/"
    assert project.list_tools(tokens["access_token"]) == 401
    for model in (get_access_token_model(), get_refresh_token_model(), get_grant_model()):
        assert not model.objects.exists()
    assert "No program acts for you." in page(project)
    assert project.refresh(tokens["refresh_token"])["error"] == "invalid_grant"


def test_a_person_cannot_disconnect_the_clients_of_others(project):
    token = project.sign_in()["access_token"]
    eve = project.make_browser(User.objects.create_user("eve"))
    assert eve.post("/o/connections/", {"client": "agent"}).status_code == 302
    assert project.list_tools(token) == 200


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
    assert "No program acts for you." in page(project)


def test_the_page_of_the_endpoint_leads_to_them(project, settings):
    sessions = ["rest_framework.authentication.SessionAuthentication"]
    own = {"BROWSABLE_PAGE": True, "AUTHENTICATION_CLASSES": sessions}
    settings.DRF_MCP = {**settings.DRF_MCP, **own}
    page = project.browser.get("/mcp", headers={"accept": "text/html"}).content.decode()
    assert '<a href="/o/connections/">Connections</a>' in page
