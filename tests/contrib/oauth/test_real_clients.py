"""Clients sign in with the documents that they publish and with what they register.

As published or reported in 2026-09, without the members that no server reads.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DataError
from oauth2_provider.models import get_application_model

from drf_mcp.contrib.oauth.backends import AgentValidator
from drf_mcp.contrib.oauth.documents import BoundedFetcher
from tests.contrib.oauth.test_clients import OPEN, register

DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
GRANTS = ["authorization_code", "refresh_token"]

# By the address of the document: what it says, and where the client sends its people.
PUBLISHED: dict[str, tuple[dict[str, Any], str]] = {
    "https://claude.ai/oauth/mcp-oauth-client-metadata": (
        {"redirect_uris": ["https://claude.ai/api/mcp/auth_callback"], "grant_types": GRANTS},
        "https://claude.ai/api/mcp/auth_callback",
    ),
    "https://claude.ai/oauth/claude-code-client-metadata": (
        {"redirect_uris": ["http://localhost/callback", "http://127.0.0.1/callback"]},
        "http://localhost:53076/callback",
    ),
    "https://vscode.dev/oauth/client-metadata.json": (
        {
            "redirect_uris": ["http://127.0.0.1:33418/", "https://vscode.dev/redirect"],
            "grant_types": [*GRANTS, DEVICE],
            "application_type": "native",
        },
        "http://127.0.0.1:51234/",
    ),
    # django-oauth-toolkit#1857
    "https://chatgpt.com/oauth/client.json": (
        {
            "redirect_uris": ["https://chatgpt.com/connector_platform_oauth_redirect"],
            "grant_types": GRANTS,
            "token_endpoint_auth_method": "private_key_jwt",
            "token_endpoint_auth_methods_supported": ["none", "private_key_jwt"],
            "jwks_uri": "https://chatgpt.com/oauth/jwks.json",
        },
        "https://chatgpt.com/connector_platform_oauth_redirect",
    ),
    "https://opencode.ai/oauth/opencode/client.json": (
        {
            "redirect_uris": ["http://127.0.0.1/callback", "http://127.0.0.1/mcp/oauth/callback"],
            "grant_types": GRANTS,
        },
        "http://127.0.0.1:19876/mcp/oauth/callback",
    ),
}

# accounted#2225
CURSOR = [
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "https://www.cursor.com/agents/mcp/oauth/callback",
    "http://localhost:8787/callback",
]
REGISTERED: dict[str, dict[str, Any]] = {
    "Cursor": {"redirect_uris": CURSOR, "token_endpoint_auth_method": "none"},
    "VS Code": {
        "redirect_uris": ["https://vscode.dev/redirect", "http://127.0.0.1:33418/"],
        "grant_types": [*GRANTS, DEVICE],
        "token_endpoint_auth_method": "none",
    },
    "mcp-remote": {
        "redirect_uris": ["http://localhost:3334/oauth/callback"],
        "grant_types": GRANTS,
        "token_endpoint_auth_method": "none",
    },
    "Gemini CLI": {
        "redirect_uris": ["http://localhost:7777/oauth/callback"],
        "token_endpoint_auth_method": "none",
        "scope": "shop refunds",
    },
    # Null stands for what is left out.
    "nulls": {
        "redirect_uris": ["http://localhost:3030/callback"],
        "grant_types": None,
        "response_types": None,
        "token_endpoint_auth_method": None,
    },
}


@pytest.fixture
def publish(monkeypatch):
    """Publish a document, as if it had been read."""

    def publish(client_id: str, document: dict[str, Any]) -> None:
        served = {"client_id": client_id, "token_endpoint_auth_method": "none", **document}
        monkeypatch.setattr(BoundedFetcher, "fetch", lambda self, client_id: (served, 60))

    return publish


@pytest.mark.parametrize("client_id", PUBLISHED)
def test_a_client_signs_in_with_its_document(project, publish, client_id):
    document, redirect_uri = PUBLISHED[client_id]
    publish(client_id, document)
    code = project.consent(client_id=client_id, redirect_uri=redirect_uri)["code"]
    answer = project.exchange(code, client_id=client_id, redirect_uri=redirect_uri)
    assert answer.status_code == 200
    assert project.list_tools(answer.json()["access_token"]) == 200


@pytest.mark.parametrize("name", REGISTERED)
def test_a_client_signs_in_after_its_registration(project, configure, name):
    configure(**OPEN)
    made = register(project, **REGISTERED[name]).json()
    client = {each: made[each] for each in ("client_id", "client_secret") if each in made}
    for redirect_uri in made["redirect_uris"]:
        code = project.consent(client_id=made["client_id"], redirect_uri=redirect_uri)["code"]
        assert project.exchange(code, redirect_uri=redirect_uri, **client).status_code == 200


def test_redirect_uris_that_get_no_code_are_left_out(project, configure):
    configure(**OPEN)
    others = ["http://192.168.1.5/callback", "https://agent.example/callback#part"]
    made = register(project, redirect_uris=[*CURSOR, *others])
    assert made.json()["redirect_uris"] == CURSOR[1:]
    refused = register(project, redirect_uris=CURSOR[:1])
    assert refused.status_code == 400
    assert CURSOR[0] in refused.json()["error_description"]


@pytest.mark.parametrize(
    ("preferred", "known"),
    [
        ("private_key_jwt", None),
        ("private_key_jwt", ["private_key_jwt"]),
        ("private_key_jwt", "none"),
        ("none", ["private_key_jwt"]),
    ],
)
def test_a_client_that_has_to_prove_a_key_is_not_taken_without_its_proof(
    project, publish, preferred, known
):
    client_id, redirect_uri = "https://agent.example/client.json", "https://agent.example/callback"
    methods = {
        "token_endpoint_auth_method": preferred,
        "token_endpoint_auth_methods_supported": known,
    }
    publish(client_id, {"redirect_uris": [redirect_uri], **methods})
    assert project.authorize(client_id=client_id).status_code == 400
    assert not get_application_model().objects.filter(client_id=client_id).exists()


def test_a_registered_secret_says_that_it_does_not_end(project, configure):
    configure(**OPEN)
    made = register(project, token_endpoint_auth_method="client_secret_post").json()
    assert made["client_secret_expires_at"] == 0
    assert (
        "client_secret_expires_at"
        not in register(project, token_endpoint_auth_method="none").json()
    )


# --- Authorization requests -----------------------------------------------------------------------


def test_scopes_that_the_project_does_not_have_are_left_out(project):
    asked = {"scope": "shop offline_access shop"}
    answer = project.sign_in(**asked)
    assert answer["scope"] == "shop"
    assert project.refresh(answer["refresh_token"], **asked)["scope"] == "shop"


def test_a_request_for_unknown_scopes_alone_is_refused(project):
    assert "error=invalid_scope" in project.authorize(scope="openid profile")["Location"]


def test_a_refresh_gives_no_scope_that_the_person_was_not_asked_for(project):
    answer = project.sign_in(scope="shop")
    refused = project.refresh(answer["refresh_token"], scope="shop refunds")
    assert refused["error"] == "invalid_scope"


def test_a_refresh_for_unknown_scopes_alone_does_not_give_all(project):
    answer = project.sign_in(scope="shop refunds")
    assert project.refresh(answer["refresh_token"], scope="openid")["error"] == "invalid_scope"


@pytest.mark.parametrize("name", ["scope", "resource", "nonce"])
def test_a_parameter_without_a_value_counts_as_left_out(project, name):
    code = project.consent(**{name: ""})["code"]
    assert project.exchange(code, **{name: ""}).json()["scope"] == "shop"


@pytest.mark.parametrize(
    "spelling",
    ["https://shop.example/mcp/", "https://SHOP.example/mcp", "https://shop.example:443/mcp"],
)
def test_each_request_may_spell_the_resource_in_its_own_way(project, spelling):
    code = project.consent(resource=spelling)["code"]
    answer = project.exchange(code).json()
    renewed = project.refresh(answer["refresh_token"], resource=spelling)
    assert project.list_tools(renewed["access_token"]) == 200


def test_a_resource_with_a_fragment_is_refused(project):
    resource = "https://shop.example/mcp#tools"
    assert "error=invalid_target" in project.authorize(resource=resource)["Location"]
    refused = project.exchange(project.consent()["code"], resource=resource)
    assert refused.json()["error"] == "invalid_target"
    token = project.sign_in()["refresh_token"]
    assert project.refresh(token, resource=resource)["error"] == "invalid_target"


def test_a_code_that_another_request_spends_meanwhile_ends_the_connection(project, monkeypatch):
    code = project.consent()["code"]
    confirm = AgentValidator.confirm_redirect_uri

    def spend_first(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(AgentValidator, "confirm_redirect_uri", confirm)
        answers.append(project.exchange(code))
        return confirm(*args, **kwargs)

    answers: list[Any] = []
    monkeypatch.setattr(AgentValidator, "confirm_redirect_uri", spend_first)
    late = project.exchange(code)
    assert (late.status_code, late.json()["error"]) == (400, "invalid_grant")
    assert project.list_tools(answers[0].json()["access_token"]) == 401


@pytest.mark.parametrize("address", ["/o/token/", "/o/revoke_token/", "/o/register/"])
def test_characters_that_no_database_stores_are_refused(project, configure, monkeypatch, address):
    configure(**OPEN)

    def refuse(*args: Any, **kwargs: Any) -> None:
        # As psycopg does.
        raise DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")

    monkeypatch.setattr("django.db.models.query.QuerySet.get", refuse)
    sent = {"grant_type": "refresh_token", "client_id": "a\0b", "refresh_token": "x", "token": "x"}
    response = project.make_browser(None).post(address, sent)
    assert response.status_code == 400


def test_half_of_a_character_is_refused(project, configure):
    configure(**OPEN)
    assert register(project, client_name="\ud800").status_code == 400
