"""Tokens for assertions of a company's identity provider, which signs them with real keys."""

from __future__ import annotations

import base64
import io
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import path
from django.utils import timezone
from oauth2_provider.models import get_access_token_model

from drf_mcp.contrib.oauth.models import LinkedIdentity, UsedAssertion
from tests.access.views import ISSUER
from tests.contrib.oauth.conftest import ENDPOINT, Project
from tests.contrib.oauth.test_metadata import read

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
SERVER = "https://shop.example/o"
SUBJECT = "00u1"


class Company(Project):
    """A project with a client of a company, whose provider calls Ada 00u1."""

    def __init__(self, issuer: Any) -> None:
        super().__init__()
        self.issuer = issuer
        self.register(
            registration_source="manual", client_type="confidential", client_secret="secret"
        )
        self.link = LinkedIdentity.objects.create(issuer=ISSUER, subject=SUBJECT, user=self.user)

    def sign(self, typ: str | None = "oauth-id-jag+jwt", **claims: Any) -> str:
        """Return an assertion; numbers are seconds from now, and a claim of None is left out."""
        usual = {
            "sub": SUBJECT,
            "aud": SERVER,
            "client_id": "agent",
            "jti": uuid.uuid4().hex,
            "iat": 0,
            "exp": 300,
            "resource": ENDPOINT,
            "scope": "shop refunds",
        }
        now = int(time.time())
        made = {k: now + v if isinstance(v, int) else v for k, v in {**usual, **claims}.items()}
        return self.issuer.sign(typ=typ, **made)

    def send(self, assertion: str | None = None, **sent: Any) -> Any:
        assertion = self.sign() if assertion is None else assertion
        usual = {"client_id": "agent", "client_secret": "secret"}
        body = {"grant_type": JWT_BEARER, "assertion": assertion, **usual, **sent}
        return self.make_browser(None).post("/o/token/", body)

    def get_error(self, assertion: str | None = None, **sent: Any) -> str:
        response = self.send(assertion, **sent)
        assert response.status_code >= 400
        assert response["Content-Type"] == "application/json"
        assert not get_access_token_model().objects.exists()
        return response.json()["error"]


@pytest.fixture
def company(configure, settings, issuer, db) -> Company:
    configure()
    providers = {ISSUER: {"jwks_url": issuer.url, "algorithms": ["RS256"]}}
    settings.DRF_MCP = {**settings.DRF_MCP, "IDENTITY_PROVIDERS": providers}
    return Company(issuer)


def test_an_assertion_gives_a_token_that_calls_tools_as_the_linked_user(company):
    answer = company.send().json()
    token = answer.pop("access_token")
    # It has no refresh token.
    assert answer == {
        "token_type": "Bearer",
        "expires_in": 3600,
        "scope": "shop refunds",
        "resource": [ENDPOINT],
    }
    assert company.agent(token).call("orders_get").data == {"by": "ada"}
    headers = {"authorization": f"Bearer {token}"}
    assert company.make_browser(None).get("/orders/", headers=headers).status_code == 401


def test_a_client_may_send_its_secret_as_a_header_and_ask_for_less(company):
    secret = base64.b64encode(b"agent:secret").decode()
    assertion = company.sign(resource=[ENDPOINT, "https://other.example"], aud=[SERVER])
    body = {"grant_type": JWT_BEARER, "assertion": assertion, "scope": "shop"}
    headers = {"authorization": f"Basic {secret}"}
    browser = company.make_browser(None)
    answer = browser.post("/o/token/", {**body, "resource": ENDPOINT}, headers=headers).json()
    assert (answer["scope"], answer["resource"]) == ("shop", [ENDPOINT])


def test_the_type_of_an_assertion_is_a_media_type(company):
    assert company.send(company.sign(typ="application/OAuth-ID-JAG+jwt")).status_code == 200


def test_an_assertion_opens_what_it_names_of_this_server(company):
    other = "https://other.example/mcp"
    assertion = company.sign(resource=[f"{ENDPOINT}/", other], scope="shop openid")
    answer = company.send(assertion, scope="shop offline_access").json()
    assert (answer["resource"], answer["scope"]) == ([ENDPOINT], "shop")


# Claims and the type of the header, with numbers in seconds from now.
REFUSED: list[dict[str, Any]] = [
    {"iss": "https://evil.example"},
    {"iss": None},
    {"sub": "ada@shop.example"},
    {"sub": SUBJECT.upper()},
    {"sub": None},
    {"aud": "https://shop.example"},
    {"aud": [SERVER, "https://other.example"]},
    {"aud": None},
    {"client_id": "other"},
    {"client_id": None},
    {"typ": "JWT"},
    {"typ": None},
    {"jti": None},
    {"jti": 5},
    {"exp": -60},
    {"exp": None},
    {"exp": 3700},
    {"iat": 90},
    {"iat": None},
    {"nbf": 90},
    {"resource": None},
    {"tenant": "acme"},
    {"cnf": {"jkt": "x"}},
    {"authorization_details": []},
]


def test_an_assertion_that_is_not_for_this_grant_is_refused_and_logged(company, caplog, subtests):
    for text in ["", "x", "a.b.c", *(company.sign(**claims) for claims in REFUSED)]:
        with subtests.test(text):
            caplog.clear()
            assert company.get_error(text) == "invalid_grant"
            (record,) = (each for each in caplog.records if each.name == "drf_mcp")
            assert "'agent'" in record.getMessage()


@pytest.mark.parametrize(
    ("claims", "named"), [({"aud": f"{SERVER}/"}, SERVER), ({"iss": f"{ISSUER}/"}, f"{ISSUER}/")]
)
def test_a_refusal_names_the_address_that_differs(company, claims, named):
    assert named in company.send(company.sign(**claims)).json()["error_description"]


def test_nobody_is_found_by_an_address_or_made(company):
    company.link.delete()
    User.objects.filter(pk=company.user.pk).update(email="ada@shop.example")
    assertion = company.sign(email="ada@shop.example", email_verified=True)
    assert company.get_error(assertion) == "invalid_grant"
    assert not User.objects.filter(pk__gt=company.user.pk).exists()


@pytest.mark.parametrize(
    ("model", "changed"),
    [(LinkedIdentity, {"issuer": "https://other.example"}), (User, {"is_active": False})],
)
def test_only_an_active_user_whom_this_provider_names_gets_a_token(company, model, changed):
    model.objects.update(**changed)
    assert company.get_error() == "invalid_grant"


def test_only_a_key_and_an_algorithm_of_the_provider_are_taken(company):
    keys = company.issuer
    keys.make_key("two", "ES256")
    assert company.get_error(company.sign(kid="two", algorithm="ES256")) == "invalid_grant"
    keys.make_key("three")
    keys.private["one"] = keys.private["three"]
    assert company.get_error() == "invalid_grant"


def test_keys_that_cannot_be_read_are_told_as_an_outage(company):
    company.issuer.is_down = True
    assert company.get_error() == "temporarily_unavailable"


@pytest.mark.parametrize(
    ("claims", "sent", "error"),
    [
        ({"scope": "shop"}, {"scope": "refunds"}, "invalid_scope"),
        ({"scope": "everything"}, {}, "invalid_scope"),
        ({"scope": ""}, {}, "invalid_scope"),
        # Without the claim, an assertion grants DEFAULT_SCOPES.
        ({"scope": None}, {"scope": "refunds"}, "invalid_scope"),
        ({"resource": "https://other.example/mcp"}, {}, "invalid_target"),
        ({"resource": 5}, {}, "invalid_target"),
        ({}, {"resource": "https://other.example/mcp"}, "invalid_target"),
        ({}, {"resource": "https://["}, "invalid_target"),
        ({"resource": "https://other.example/mcp"}, {"resource": ENDPOINT}, "invalid_target"),
    ],
)
def test_a_token_opens_no_more_than_the_assertion(company, claims, sent, error):
    assert company.get_error(company.sign(**claims), **sent) == error


@pytest.mark.parametrize(
    ("changed", "sent", "error"),
    [
        ({}, {"client_secret": "wrong"}, "invalid_client"),
        ({}, {"client_secret": ""}, "invalid_client"),
        ({"client_type": "public"}, {}, "unauthorized_client"),
        ({"registration_source": "dcr"}, {}, "unauthorized_client"),
        ({"registration_source": "cimd"}, {}, "unauthorized_client"),
        ({"authorization_grant_type": "client-credentials"}, {}, "unauthorized_client"),
    ],
)
def test_only_a_client_of_the_project_with_a_secret_may_send_assertions(
    company, changed, sent, error
):
    company.register(**{"registration_source": "manual", **changed})
    assert company.get_error(**sent) == error
    # Strangers do not have the provider asked for keys.
    assert company.issuer.asked == 0


def test_an_assertion_gives_one_token_until_it_has_expired(company, monkeypatch):
    assertion = company.sign(exp=3600)
    assert company.send(assertion, scope="everything").json()["error"] == "invalid_scope"
    assert company.send(assertion).status_code == 200
    call_command("mcp_expire", verbosity=0)
    assert company.send(assertion).json()["error"] == "invalid_grant"
    assert company.send().status_code == 200
    later = timezone.now() + timedelta(minutes=61, seconds=1)
    monkeypatch.setattr("drf_mcp.contrib.oauth.models.timezone.now", lambda: later)
    call_command("mcp_expire", verbosity=0)
    assert not UsedAssertion.objects.exists()


def test_the_metadata_offers_the_grant(company):
    document = read(company).json()
    assert JWT_BEARER in document["grant_types_supported"]
    profiles = document["authorization_grant_profiles_supported"]
    assert profiles == ["urn:ietf:params:oauth:grant-profile:id-jag"]
    # No company is named to strangers.
    assert ISSUER not in read(company).content.decode()


def test_without_a_provider_there_is_no_such_grant(company, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "IDENTITY_PROVIDERS": {}}
    assert company.get_error() == "unsupported_grant_type"
    document = read(company).json()
    assert JWT_BEARER not in document["grant_types_supported"]
    assert "authorization_grant_profiles_supported" not in document


# --- Links ----------------------------------------------------------------------------------------


@pytest.fixture
def link(monkeypatch) -> Callable[..., None]:
    """Run the command with what stands on its standard input."""

    def link(*arguments: str, rows: str = "", issuer: str = ISSUER) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO(rows))
        call_command("mcp_link_identity", issuer, *arguments, stdout=io.StringIO())

    return link


def test_the_command_links_one_subject_or_many(company, link):
    eve = User.objects.create_user("eve")
    link("--subject", SUBJECT, "--user", "eve")
    link(rows="00u2,ada\n00u3,eve\n")
    links = LinkedIdentity.objects.filter(issuer=ISSUER).values_list("subject", "user__username")
    assert set(links) == {(SUBJECT, "eve"), ("00u2", "ada"), ("00u3", "eve")}
    assert company.agent(company.send().json()["access_token"]).call("orders_get").data == {
        "by": eve.username
    }


@pytest.mark.parametrize(
    ("sent", "fault"),
    [
        ({"rows": "00u2,ada\n00u3,nobody\n"}, "nobody"),
        ({"rows": "00u2,ada\n00u3\n"}, "a subject and a user"),
        ({"rows": "00u2,ada\n", "issuer": "https://other.example"}, "has no issuer"),
    ],
)
def test_a_wrong_row_links_nothing(company, link, sent, fault):
    with pytest.raises(CommandError, match=fault):
        link(**sent)
    assert LinkedIdentity.objects.count() == 1


@pytest.mark.parametrize(("is_superuser", "status"), [(True, 200), (False, 403)])
def test_only_a_superuser_links_in_the_admin(expose, db, is_superuser, status):
    expose(path("admin/", admin.site.urls))
    boss = User.objects.create_user("boss", is_staff=True, is_superuser=is_superuser)
    browser = Client()
    browser.force_login(boss)
    assert browser.get("/admin/drf_mcp_oauth/linkedidentity/add/").status_code == status
