"""A person is asked, with everything that the answer means."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from tests.contrib.oauth.conftest import parameters_of


def tools_of(page) -> set[str]:
    return {tool.name for tool in page.context["tools"].tools}


def test_a_stranger_logs_in_first(project):
    answer = project.ask(project.make_browser(None))
    assert answer.status_code == 302
    assert answer["Location"].startswith("/api-auth/login/?next=/o/authorize/")


def test_the_page_names_client_person_scopes_and_hosts(project):
    text = project.ask(scope="shop refunds").content.decode()
    for said in ("Agent of Ada", "<strong>ada</strong>", "agent.example", "Pay money back"):
        assert said in text


@pytest.mark.slow
def test_the_page_names_the_tools_that_the_token_would_open(project):
    page = project.ask()
    assert tools_of(page) == {"notes_create", "orders_get", "orders_post", "orders_delete"}
    kinds = page.context["tools"]
    assert [t.name for t in kinds.reading] == ["orders_get"]
    assert [t.name for t in kinds.changing] == ["notes_create"]
    assert [t.name for t in kinds.destroying] == ["orders_post", "orders_delete"]
    assert "orders_delete" in page.content.decode()


def test_tools_that_need_a_further_scope_are_named_with_that_scope_alone(project):
    assert "refunds_post" not in tools_of(project.ask())
    assert "refunds_post" in tools_of(project.ask(scope="shop refunds"))


def test_tools_of_others_are_not_named(project):
    assert "staff_get" not in tools_of(project.ask())
    carol = User.objects.create_user("carol-of-staff", is_staff=True)
    assert "staff_get" in tools_of(project.ask(project.make_browser(carol)))


def test_a_token_without_the_scope_of_the_endpoint_opens_nothing(project):
    page = project.ask(scope="refunds")
    assert tools_of(page) == set()
    assert "No tools" in page.content.decode()


def test_what_the_page_names_is_what_the_token_lists(project):
    named = tools_of(project.ask())
    agent = project.agent(project.sign_in()["access_token"])
    listed = {tool["name"] for tool in agent.result("tools/list")["tools"]}
    # Listed as well is what the client may ask for.
    assert named == listed - {"refunds_post"}


@pytest.mark.parametrize(
    "name",
    ["<script>alert(1)</script>", "Ada\u202egnikrow", "Line\nbreak", "x" * 255, "", "\u200b"],
)
def test_the_name_of_a_client_is_text(project, name):
    project.register(name=name)
    page = project.ask()
    shown = page.context["client"].name
    assert shown
    assert shown.isprintable()
    assert len(shown) <= 61
    assert "<script>alert" not in page.content.decode()


def test_a_client_that_introduced_itself_is_doubted(project):
    doubt = "The name is what the program calls itself."
    assert doubt not in project.ask().content.decode()
    project.register()
    assert doubt in project.ask().content.decode()


def test_the_publisher_of_a_document_is_named(project):
    document = "https://claude.example/client.json"
    project.register(registration_source="cimd", client_id=document)
    assert "<strong>claude.example</strong>" in project.ask(client_id=document).content.decode()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_a_program_on_the_persons_machine_may_listen_on_any_port(project, host):
    project.register(redirect_uris=f"http://{host}/callback")
    page = project.ask(redirect_uri=f"http://{host}:41234/callback")
    assert page.status_code == 200
    assert "a program on this computer" in page.content.decode()


def test_codes_are_not_sent_elsewhere_without_tls(project):
    project.register(redirect_uris="http://agent.example/callback")
    answer = project.ask(redirect_uri="http://agent.example/callback")
    assert answer.status_code == 400
    assert "Nothing was connected" in answer.content.decode()


def test_codes_are_not_sent_to_addresses_that_were_not_registered(project):
    answer = project.ask(redirect_uri="https://evil.example/callback")
    assert (answer.status_code, "Location" in answer) == (400, False)


def test_an_unknown_client_is_shown_a_page_and_sent_nowhere(project):
    answer = project.ask(client_id="unknown")
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
def test_a_request_without_a_hashed_challenge_is_refused(project, changed):
    answer = project.ask(**changed)
    assert answer.status_code == 302
    assert parameters_of(answer)["error"] == "invalid_request"
    assert "code" not in parameters_of(answer)


@pytest.mark.parametrize("response_type", ["token", "id_token", "code token"])
def test_no_token_comes_in_an_address(project, response_type):
    project.register(registration_source="manual", authorization_grant_type="implicit")
    answer = project.ask(response_type=response_type)
    assert answer.status_code in (302, 400)
    assert "access_token" not in answer.get("Location", "")


def test_no_token_is_asked_for_somebody_else(project):
    answer = project.ask(resource="https://evil.example/mcp")
    assert parameters_of(answer)["error"] == "invalid_target"
    assert parameters_of(answer)["state"] == "s"


def test_a_changed_form_gets_no_token_for_somebody_else(project):
    page = project.ask()
    filled = {**page.context["form"].initial, "resource": "https://evil.example/mcp"}
    sent = {name: value or "" for name, value in filled.items()}
    answer = project.browser.post(page.wsgi_request.get_full_path(), {**sent, "allow": "true"})
    assert parameters_of(answer)["error"] == "invalid_target"


def test_a_person_is_asked_again_whatever_the_client_says(project):
    project.sign_in()
    for prompt in ("auto", "force", None):
        assert project.ask(approval_prompt=prompt).status_code == 200


def test_clients_that_the_project_trusts_are_let_through(project):
    project.register(registration_source="manual", skip_authorization=True)
    assert "code" in parameters_of(project.ask())


def test_the_answer_names_the_issuer(project):
    back = project.consent()
    assert (back["iss"], back["state"]) == ("https://shop.example/o", "s")


def test_no_other_page_may_frame_the_question(project):
    response = project.ask()
    policy = response["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "script-src" not in policy
    assert "default-src 'none'" in policy
    # A browser follows the form's answer to nowhere else.
    assert "form-action 'self' https://agent.example;" in policy
    assert response["X-Frame-Options"] == "DENY"
    assert "no-store" in response["Cache-Control"]


def test_no_other_site_can_answer_for_the_person(project):
    page = project.ask()
    project.browser.handler.enforce_csrf_checks = True
    sent = {name: value or "" for name, value in page.context["form"].initial.items()}
    answer = project.browser.post(page.wsgi_request.get_full_path(), {**sent, "allow": "true"})
    assert answer.status_code == 403


@pytest.mark.slow
def test_a_code_is_good_for_whoever_asked_and_once(project):
    code = project.consent()["code"]
    assert project.exchange(code, code_verifier="w" * 64).json()["error"] == "invalid_grant"
    code = project.consent()["code"]
    assert project.exchange(code, code_verifier=None).status_code == 400
    code = project.consent()["code"]
    assert project.exchange(code).status_code == 200
    assert project.exchange(code).json()["error"] == "invalid_grant"


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
    assert parameters_of(project.ask(scope="shop unheard"))["error"] == "invalid_scope"
