"""``manage.py check`` finds wrong settings of the authorization server."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.checks import run_checks
from django.urls import include, path
from django.views import View

from drf_mcp.contrib.oauth.apps import OAuthConfig
from tests.contrib.oauth.apps import UncheckedOAuthConfig

OAUTH = {"drf_mcp.E020", *(f"drf_mcp.W0{number}" for number in (18, 19, 20, 25, 26, 27, 28))}


@pytest.fixture(autouse=True)
def checked(monkeypatch) -> None:
    """Run the checks that ``UncheckedOAuthConfig`` switches off."""
    monkeypatch.setattr(UncheckedOAuthConfig, "mcp_checks", OAuthConfig.mcp_checks)


def find(deploy: bool = False) -> list[Any]:
    """Return the messages of the checks of OAuth."""
    every = run_checks(tags=["drf_mcp"], include_deployment_checks=deploy)
    return [message for message in every if message.id in OAUTH]


def ids(deploy: bool = False) -> list[str]:
    return [message.id for message in find(deploy)]


@pytest.fixture
def configured(settings, configure, db):
    configure()
    return settings


def test_the_defaults_pass(configured):
    assert ids() == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PKCE_REQUIRED", False),
        ("PKCE_REQUIRED", lambda client_id: False),
        ("ALLOW_URI_WILDCARDS", True),
        *[
            (
                "CIMD_REGISTRATION_PERMISSION_CLASSES",
                ["oauth2_provider.cimd.AllowAllCIMDPermission"],
            )
        ],
        ("COMPLIANT_BCP_RFC9700_PKCE_METHOD", False),
        ("COMPLIANT_BCP_RFC9700_IMPLICIT_GRANT", False),
        ("COMPLIANT_BCP_RFC9700_PASSWORD_GRANT", False),
        ("COMPLIANT_BCP_RFC9700_ACCESS_TOKEN_TRANSPORT", False),
        ("COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS", False),
        ("OAUTH2_VALIDATOR_CLASS", "oauth2_provider.oauth2_validators.OAuth2Validator"),
    ],
)
def test_a_setting_that_clients_need_is_an_error_when_changed(configure, db, name, value):
    configure(**{name: value})
    found = find()
    assert [message.id for message in found] == ["drf_mcp.E020"]
    assert name in found[0].msg


class Everything(View):
    """A view that hides the patterns below it."""


def serve(settings, *patterns: Any) -> None:
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": list(patterns)})


def test_a_project_without_the_urls_is_warned(configured):
    login = path("api-auth/", include("rest_framework.urls"))
    serve(configured, path("", include("drf_mcp.urls")), login)
    assert "drf_mcp.W025" in ids()


def test_the_consent_page_of_the_toolkit_is_found(configured):
    login = path("api-auth/", include("rest_framework.urls"))
    toolkit = path("o/", include("oauth2_provider.urls"))
    own = path("", include("drf_mcp.contrib.oauth.urls"))
    serve(configured, path("", include("drf_mcp.urls")), toolkit, own, login)
    assert "drf_mcp.W025" in ids()


def test_metadata_that_is_not_at_the_root_is_found(configured):
    login = path("api-auth/", include("rest_framework.urls"))
    own = path("shop/", include("drf_mcp.contrib.oauth.urls"))
    serve(configured, path("", include("drf_mcp.urls")), own, login)
    assert "drf_mcp.W025" in ids()


def test_an_endpoint_that_does_not_name_the_server_is_found(configured):
    configured.DRF_MCP = {**configured.DRF_MCP, "AUTHORIZATION_SERVERS": []}
    assert ids() == ["drf_mcp.W026"]


@pytest.mark.parametrize("url", ["/accounts/login/", "no-such-name"])
def test_a_login_page_that_does_not_exist_is_found(configured, url):
    configured.LOGIN_URL = url
    assert ids() == ["drf_mcp.W027"]


@pytest.mark.slow
def test_an_issuer_without_tls_is_found_by_the_deployment_checks(configured, configure):
    configure(OIDC_ISS_ENDPOINT="http://shop.example/o")
    assert "drf_mcp.W028" in ids(deploy=True)
    configure(OIDC_ISS_ENDPOINT="https://shop.example/o")
    assert "drf_mcp.W028" not in ids(deploy=True)
    configure()
    configured.SECURE_PROXY_SSL_HEADER = None
    assert "drf_mcp.W028" in ids(deploy=True)
    configured.SECURE_SSL_REDIRECT = True
    assert "drf_mcp.W028" not in ids(deploy=True)
