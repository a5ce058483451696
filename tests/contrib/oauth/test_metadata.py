"""The metadata of the authorization server (RFC 8414)."""

from __future__ import annotations

import pytest

WELL_KNOWN = "/.well-known/oauth-authorization-server"


def read(project, path: str = f"{WELL_KNOWN}/o", **headers):
    return project.make_browser(None).get(path, headers=headers)


@pytest.mark.parametrize("path", [f"{WELL_KNOWN}/o", f"/o{WELL_KNOWN}"])
def test_the_metadata_is_at_both_addresses_of_the_issuer(project, path):
    document = read(project, path).json()
    assert document["issuer"] == "https://shop.example/o"
    assert document["authorization_endpoint"] == "https://shop.example/o/authorize/"
    assert document["token_endpoint"] == "https://shop.example/o/token/"
    assert document["revocation_endpoint"] == "https://shop.example/o/revoke_token/"


def test_the_metadata_offers_codes_with_s256_and_client_credentials(project):
    document = read(project).json()
    assert document["response_types_supported"] == ["code"]
    code, program = ["authorization_code", "refresh_token"], ["client_credentials"]
    assert document["grant_types_supported"] == code + program
    assert document["code_challenge_methods_supported"] == ["S256"]
    assert document["authorization_response_iss_parameter_supported"] is True
    assert document["client_id_metadata_document_supported"] is True
    assert document["scopes_supported"] == ["refunds", "shop"]
    assert "introspection_endpoint" not in document


def test_the_metadata_names_the_registration_where_it_is_on(project, configure):
    assert "registration_endpoint" not in read(project).json()
    configure(DCR_ENABLED=True)
    assert read(project).json()["registration_endpoint"] == "https://shop.example/o/register/"


def test_pages_of_every_origin_may_read_the_metadata(project):
    response = read(project, origin="https://inspector.example")
    assert response["Access-Control-Allow-Origin"] == "*"
    assert response["Cache-Control"] == "public, max-age=3600"
    preflight = project.make_browser(None).options(f"{WELL_KNOWN}/o")
    assert preflight.status_code == 204
    assert preflight["Access-Control-Allow-Headers"] == "*"


def test_the_metadata_of_the_endpoint_names_the_server(project):
    document = read(project, "/.well-known/oauth-protected-resource/mcp").json()
    assert document["resource"] == "https://shop.example/mcp"
    assert document["authorization_servers"] == ["https://shop.example/o"]
