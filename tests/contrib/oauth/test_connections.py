"""The page on which a person sees and disconnects the clients that act for them."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from oauth2_provider.models import get_access_token_model, get_grant_model, get_refresh_token_model

from drf_mcp.contrib.oauth.backends import AgentValidator, EndpointCore


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


@pytest.fixture
def refresh_at_once(project, monkeypatch):
    """Send a refresh token twice: both are validated before either has made its tokens."""

    def refresh(token: str) -> list[dict[str, str]]:
        validate, answers = AgentValidator.validate_refresh_token, []

        def refresh_meanwhile(self, *args, **kwargs):
            is_good = validate(self, *args, **kwargs)
            monkeypatch.setattr(AgentValidator, "validate_refresh_token", validate)
            answers.append(project.refresh(token))
            return is_good

        monkeypatch.setattr(AgentValidator, "validate_refresh_token", refresh_meanwhile)
        late = project.refresh(token)
        return [*answers, late]

    return refresh


def test_a_refresh_token_used_by_two_requests_at_once_ends_the_connection(project, refresh_at_once):
    first, late = refresh_at_once(project.sign_in()["refresh_token"])
    assert late["error"] == "invalid_grant"
    assert project.list_tools(first["access_token"]) == 401
    assert project.refresh(first["refresh_token"])["error"] == "invalid_grant"
    assert "No program acts for you." in page(project)


def test_a_token_that_another_request_ends_meanwhile_is_no_crash(project, monkeypatch):
    create = EndpointCore.create_token_response

    def end_at_once(self, request):
        answer = create(self, request)
        get_access_token_model().objects.all().delete()
        return answer

    token = project.sign_in()["refresh_token"]
    monkeypatch.setattr(EndpointCore, "create_token_response", end_at_once)
    assert project.refresh(token)["error"] == "invalid_grant"


def test_sessions_of_one_client_share_a_refresh_token_within_a_grace_period(
    configure, project, refresh_at_once
):
    """Claude Code with two windows: claude-code#85236."""
    configure(REFRESH_TOKEN_GRACE_PERIOD_SECONDS=120, COMPLIANT_BCP_RFC9700_TOKEN_STORAGE=False)
    token = project.sign_in()["refresh_token"]
    for answer in [*refresh_at_once(token), project.refresh(token)]:
        assert project.list_tools(answer["access_token"]) == 200


@pytest.mark.parametrize("has_page", [True, False])
def test_they_lead_back_to_the_page_of_the_endpoint(project, settings, has_page):
    settings.DRF_MCP = {**settings.DRF_MCP, "BROWSABLE_PAGE": has_page}
    assert ('<a class="brand" href="/mcp">' in page(project)) == has_page


def test_the_page_of_the_endpoint_leads_to_them(project, settings):
    sessions = ["rest_framework.authentication.SessionAuthentication"]
    own = {"BROWSABLE_PAGE": True, "AUTHENTICATION_CLASSES": sessions}
    settings.DRF_MCP = {**settings.DRF_MCP, **own}
    page = project.browser.get("/mcp", headers={"accept": "text/html"}).content.decode()
    assert '<a href="/o/connections/">Connections</a>' in page
