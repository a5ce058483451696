"""Clients that register themselves get tokens only with the consent of a person."""

from __future__ import annotations

import json
from typing import Any

import pytest
from oauth2_provider.models import get_application_model

from tests.contrib.oauth.conftest import HOST

OPEN = {
    "DCR_ENABLED": True,
    "DCR_REGISTRATION_PERMISSION_CLASSES": ["oauth2_provider.dcr.AllowAllDCRPermission"],
}


def register(project, browser: Any = None, **metadata: Any):
    usual = {"redirect_uris": ["https://agent.example/callback"], "client_name": "Newcomer"}
    browser = browser or project.make_browser(None)
    return browser.post("/o/register/", json.dumps({**usual, **metadata}), "application/json")


def test_registration_is_off_by_default(project):
    assert register(project).status_code == 404


def test_anonymous_clients_register_where_the_permission_class_allows_it(project, configure):
    configure(DCR_ENABLED=True)
    assert register(project).status_code == 401
    configure(**OPEN)
    assert register(project).status_code == 201


def test_a_program_registers_without_a_token_against_forgery(project, configure):
    configure(**OPEN)
    body = json.dumps({"redirect_uris": ["https://agent.example/callback"]})
    browser = project.make_browser(None)
    browser.handler.enforce_csrf_checks = True
    assert browser.post("/o/register/", body, "application/json").status_code == 201


def test_a_client_registers_with_the_offered_ones_of_its_grants(project, configure):
    configure(**OPEN)
    device = "urn:ietf:params:oauth:grant-type:device_code"
    made = register(project, grant_types=["authorization_code", device, "client_credentials"])
    assert made.status_code == 201
    assert made.json()["grant_types"] == ["authorization_code", "refresh_token"]
    assert register(project, grant_types=[device, "password"]).status_code == 400


def test_a_registration_that_is_no_object_is_refused(project, configure):
    configure(**OPEN)
    for body in ("[]", "x", "{", "[" * 99_999):
        made = project.make_browser(None).post("/o/register/", body, "application/json")
        assert made.status_code == 400


def test_registering_hashes_no_secret_as_slowly_as_a_password(project, configure, monkeypatch):
    configure(**OPEN)
    monkeypatch.setattr("oauth2_provider.models.make_password", lambda *args, **kwargs: 1 / 0)
    for method in ("none", "client_secret_post"):
        assert register(project, token_endpoint_auth_method=method).status_code == 201


def test_a_registered_client_signs_in_with_its_secret_alone(project, configure):
    configure(**OPEN)
    client = register(project, token_endpoint_auth_method="client_secret_post").json()
    known = {"client_id": client["client_id"]}
    kept = get_application_model().objects.get(**known).client_secret
    for secret, status in [(kept, 401), ("", 401), (client["client_secret"], 200)]:
        code = project.consent(**known)["code"]
        assert project.exchange(code, client_secret=secret, **known).status_code == status
    assert client["client_secret"] not in kept


def test_a_registered_client_gets_no_token_without_a_person(project, configure, subtests):
    configure(**OPEN)
    made = register(project, token_endpoint_auth_method="client_secret_post").json()
    client = {"client_id": made["client_id"], "client_secret": made["client_secret"]}
    row = get_application_model().objects.filter(client_id=made["client_id"])
    for grant in ("client_credentials", "password"):
        with subtests.test(grant=grant):
            row.update(authorization_grant_type=grant.replace("_", "-"))
            person = {"username": "ada", "password": "ada", "scope": "shop"}
            sent = {"grant_type": grant, **client, **person}
            answer = project.make_browser(None).post("/o/token/", sent)
            assert answer.status_code in (400, 401)
            assert "access_token" not in answer.json()


def test_an_application_that_the_project_added_may_use_client_credentials(project):
    application = project.register(
        registration_source="manual",
        client_type="confidential",
        authorization_grant_type="client-credentials",
        client_secret="secret",
    )
    sent = {
        "grant_type": "client_credentials",
        "client_id": application.client_id,
        "client_secret": "secret",
    }
    assert "access_token" in project.make_browser(None).post("/o/token/", sent).json()


@pytest.mark.parametrize("is_signed_in", [False, True])
def test_a_registration_access_token_opens_nothing(project, configure, settings, is_signed_in):
    configure(**OPEN)
    settings.DRF_MCP = {**settings.DRF_MCP, "SCOPES": [], "RESOURCE": f"https://{HOST}"}
    browser = project.make_browser(project.user if is_signed_in else None)
    token = register(project, browser).json()["registration_access_token"]
    assert project.list_tools(token) == 401
    headers = {"authorization": f"Bearer {token}"}
    assert project.make_browser(None).get("/orders/", headers=headers).status_code == 401
    assert "No program acts for you." in project.browser.get("/o/connections/").content.decode()
