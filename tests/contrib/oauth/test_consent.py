"""The consent page, and the codes that a client gets by it."""

from __future__ import annotations

import pytest

from drf_mcp.contrib.oauth.backends import AgentValidator
from tests.contrib.oauth.conftest import parameters_of


def tools_of(page) -> set[str]:
    return {tool.name for tool in page.context["tools"]}


def test_a_stranger_logs_in_first(project):
    answer = project.authorize(project.make_browser(None))
    assert answer.status_code == 302
    assert answer["Location"].startswith("/api-auth/login/?next=/o/authorize/")


def test_the_page_names_client_person_scopes_and_hosts(project):
    text = project.authorize(scope="shop refunds").content.decode()
    for part in ("Agent of Ada", "<strong>ada</strong>", "agent.example", "Pay money back"):
        assert part in text


def test_tools_that_need_a_further_scope_are_named_with_that_scope_alone(project):
    assert "refunds_post" not in tools_of(project.authorize())
    assert "refunds_post" in tools_of(project.authorize(scope="shop refunds"))


def test_a_token_without_the_scope_of_the_endpoint_opens_nothing(project):
    page = project.authorize(scope="refunds")
    assert tools_of(page) == set()
    assert "No tools" in page.content.decode()


def test_the_page_names_the_tools_that_the_token_lists(project):
    named = tools_of(project.authorize())
    agent = project.agent(project.sign_in()["access_token"])
    listed = {tool["name"] for tool in agent.result("tools/list")["tools"]}
    # The list also has the tools whose scope the client may request.
    assert named == listed - {"refunds_post"}


@pytest.mark.parametrize(
    "name",
    ["<script>alert(1)</script>", "Ada\u202egnikrow", "Line\nbreak", "x" * 255, "", "\u200b"],
)
def test_the_name_of_a_client_is_shown_as_plain_text(project, name):
    project.register(name=name)
    page = project.authorize()
    shown = page.context["client"].name
    assert shown
    assert shown.isprintable()
    assert len(shown) <= 61
    assert "<script>alert" not in page.content.decode()


def test_the_page_doubts_the_name_of_a_client_that_registered_itself(project):
    doubt = "The name is what the program calls itself."
    assert doubt not in project.authorize().content.decode()
    project.register()
    assert doubt in project.authorize().content.decode()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_a_program_on_the_persons_machine_may_listen_on_any_port(project, host):
    project.register(redirect_uris=f"http://{host}/callback")
    page = project.authorize(redirect_uri=f"http://{host}:41234/callback")
    assert page.status_code == 200
    assert "a program on this computer" in page.content.decode()


def test_codes_are_not_sent_without_tls(project):
    project.register(redirect_uris="http://agent.example/callback")
    answer = project.authorize(redirect_uri="http://agent.example/callback")
    assert answer.status_code == 400
    assert "Nothing was connected" in answer.content.decode()


def test_codes_are_not_sent_to_addresses_that_were_not_registered(project):
    answer = project.authorize(redirect_uri="https://evil.example/callback")
    assert (answer.status_code, "Location" in answer) == (400, False)


def test_an_unknown_client_is_shown_a_page_and_sent_nowhere(project):
    answer = project.authorize(client_id="unknown")
    assert (answer.status_code, "Location" in answer) == (400, False)
    assert "is not known here" in answer.content.decode()


@pytest.mark.parametrize(
    "changed",
    [
        {"code_challenge": None, "code_challenge_method": None},
        {"code_challenge_method": "plain"},
        {"code_challenge_method": None},
    ],
)
def test_a_request_without_a_hashed_challenge_gets_no_code(project, changed):
    answer = project.authorize(**changed)
    back = parameters_of(answer) if answer.status_code == 302 else project.consent(**changed)
    assert back["error"] == "invalid_request"
    assert "code" not in back


@pytest.mark.parametrize("response_type", ["token", "id_token", "code token"])
def test_no_token_is_sent_in_a_url(project, response_type):
    project.register(registration_source="manual", authorization_grant_type="implicit")
    answer = project.authorize(response_type=response_type)
    assert answer.status_code in (302, 400)
    assert "access_token" not in answer.get("Location", "")


def test_a_resource_of_another_server_is_refused(project):
    answer = project.authorize(resource="https://evil.example/mcp")
    assert parameters_of(answer)["error"] == "invalid_target"
    assert parameters_of(answer)["state"] == "s"


def test_a_person_is_asked_at_each_request(project):
    project.sign_in()
    for prompt in ("auto", "force", None):
        assert project.authorize(approval_prompt=prompt).status_code == 200


def test_a_trusted_client_needs_no_consent(project):
    project.register(registration_source="manual", skip_authorization=True)
    assert "code" in parameters_of(project.authorize())


def test_the_page_cannot_be_framed_and_runs_no_script(project):
    response = project.authorize()
    policy = response["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "script-src" not in policy
    assert "default-src 'none'" in policy
    # The form may redirect the browser only to the client.
    assert "form-action 'self' https://agent.example;" in policy
    assert response["X-Frame-Options"] == "DENY"
    assert "no-store" in response["Cache-Control"]


def test_the_form_needs_a_csrf_token(project):
    page = project.authorize()
    project.browser.handler.enforce_csrf_checks = True
    sent = {name: value or "" for name, value in page.context["form"].initial.items()}
    answer = project.browser.post(page.wsgi_request.get_full_path(), {**sent, "allow": "true"})
    assert answer.status_code == 403


@pytest.mark.slow
def test_a_code_needs_its_verifier(project):
    code = project.consent()["code"]
    assert project.exchange(code, code_verifier="w" * 64).json()["error"] == "invalid_grant"
    code = project.consent()["code"]
    assert project.exchange(code, code_verifier=None).status_code == 400


def test_the_second_use_of_a_code_ends_the_tokens_of_the_first(project):
    code = project.consent()["code"]
    tokens = project.refresh(project.exchange(code).json()["refresh_token"])
    assert project.exchange(code).json()["error"] == "invalid_grant"
    assert project.list_tools(tokens["access_token"]) == 401
    assert project.refresh(tokens["refresh_token"])["error"] == "invalid_grant"


def test_a_code_that_another_client_sends_ends_nothing(project):
    code = project.consent()["code"]
    token = project.exchange(code).json()["access_token"]
    project.register(pk=None, client_id="other")
    assert project.exchange(code, client_id="other").json()["error"] == "invalid_grant"
    assert project.list_tools(token) == 200


def test_a_code_that_two_requests_send_at_once_ends_the_tokens_of_both(project, monkeypatch):
    code, save, others = project.consent()["code"], AgentValidator.save_bearer_token, []

    def exchange_meanwhile(self, *args):
        if not others:
            others.append(None)
            others[0] = project.exchange(code).json()
        return save(self, *args)

    monkeypatch.setattr(AgentValidator, "save_bearer_token", exchange_meanwhile)
    assert project.exchange(code).json()["error"] == "invalid_grant"
    assert project.list_tools(others[0]["access_token"]) == 401


def test_tokens_are_hashed_in_the_database(project):
    from oauth2_provider.models import get_access_token_model, get_refresh_token_model

    tokens = project.sign_in()
    assert not get_access_token_model().objects.filter(token=tokens["access_token"]).exists()
    assert not get_refresh_token_model().objects.filter(token=tokens["refresh_token"]).exists()


@pytest.mark.slow
def test_the_scopes_are_those_that_the_person_saw(project):
    assert project.sign_in()["scope"] == "shop"
    assert project.sign_in(scope="shop refunds")["scope"] == "shop refunds"
    assert project.sign_in(scope=None)["scope"] == "shop"
    assert parameters_of(project.authorize(scope="unheard"))["error"] == "invalid_scope"
