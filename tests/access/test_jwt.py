"""JSON Web Tokens of an external server: valid and invalid tokens, keys, users, settings."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from types import SimpleNamespace
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.test import Client, RequestFactory
from django.urls import path
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.exceptions import AuthenticationFailed

from drf_mcp.access import jwt as tokens
from drf_mcp.access.jwt import AccessToken, JWTAuthentication
from drf_mcp.views import MCPView
from tests.access.conftest import OAUTH
from tests.access.views import ISSUER, Orders, ShopLogin
from tests.agents import Agent


@pytest.fixture
def ask(expose, issuer, db):
    """Return the status of a view and of the endpoint for a token; both have to be equal."""

    def ask(token: str, *classes: Any, **settings: Any) -> int:
        used = classes or (ShopLogin,)
        view = type("Orders", (Orders,), {"authentication_classes": list(used)})
        usual = {**OAUTH, "AUTHENTICATION_CLASSES": list(used)}
        usual["PERMISSION_CLASSES"] = ["rest_framework.permissions.IsAuthenticated"]
        expose(path("orders/", view.as_view()), **{**usual, **settings})
        agent = Agent(Client(headers={"authorization": f"Bearer {token}"}), "2025-11-25")
        http = agent.http.get("/orders/").status_code
        message, headers = agent.frame("tools/call", {"name": "orders_get", "arguments": {}})
        assert agent.post(message, headers).status_code == http
        return http

    return ask


# --- Valid and invalid tokens --------------------------------------------------------------


# Claims, with numbers in seconds from now, and the status of the response.
CLAIMS = [
    ({}, 200),
    ({"aud": ["account", OAUTH["RESOURCE"]]}, 200),
    ({"aud": f"{OAUTH['RESOURCE']}/"}, 200),
    ({"aud": "https://shop.example/"}, 401),
    ({"aud": "account"}, 401),
    ({"aud": f"{OAUTH['RESOURCE']}x"}, 401),
    ({"aud": None}, 401),
    ({"aud": []}, 401),
    ({"iss": "https://evil.example"}, 401),
    ({"iss": f"{ISSUER}/"}, 401),
    ({"iss": None}, 401),
    ({"exp": None}, 401),
    ({"exp": -3600}, 401),
    ({"exp": -10}, 200),  # Allows for clock skew.
    ({"nbf": 3600}, 401),
    ({"nbf": 10}, 200),
    ({"iat": 3600}, 401),
    ({"sub": None}, 401),
    ({"sub": "nobody"}, 401),
    ({"sub": ""}, 401),
]


def test_each_claim_of_a_token_is_checked(ask, issuer, subtests):
    now = int(time.time())
    for claims, status in CLAIMS:
        with subtests.test(claims=claims):
            made = {name: now + v if isinstance(v, int) else v for name, v in claims.items()}
            assert ask(issuer.sign(**made)) == status


def test_a_changed_signature_is_refused(ask, issuer):
    header, payload, signature = issuer.sign().split(".")
    bits = bytearray(base64.urlsafe_b64decode(signature + "=="))
    bits[10] ^= 1
    other = base64.urlsafe_b64encode(bits).decode().rstrip("=")
    assert ask(f"{header}.{payload}.{other}") == 401


def test_a_token_signed_by_another_key_is_refused(ask, issuer):
    issuer.make_key("two")
    issuer.published.pop()
    issuer.private["one"], own = issuer.private["two"], issuer.private["one"]
    assert ask(issuer.sign()) == 401
    issuer.private["one"] = own
    assert ask(issuer.sign()) == 200


def request_with(token: str) -> Any:
    return RequestFactory().get("/", headers={"authorization": f"Bearer {token}"})


def part(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize("alg", ["none", "None", "NONE", "nOnE"])
def test_a_token_without_a_signature_is_refused(ask, issuer, alg):
    payload = issuer.sign().split(".")[1]
    assert ask(f"{part({'alg': alg, 'kid': 'one'})}.{payload}.") == 401


def test_a_token_signed_with_the_public_key_as_a_secret_is_refused(ask, issuer):
    """Algorithm confusion: the public key is no secret."""
    public = issuer.private["one"].public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    signed = f"{part({'alg': 'HS256', 'kid': 'one'})}.{issuer.sign().split('.')[1]}"
    digest = hmac.new(pem, signed.encode(), hashlib.sha256).digest()
    assert ask(f"{signed}.{base64.urlsafe_b64encode(digest).decode().rstrip('=')}") == 401
    assert issuer.asked == 0


def test_a_published_symmetric_key_is_not_used(ask, issuer):
    secret = base64.urlsafe_b64encode(b"x" * 32).decode().rstrip("=")
    issuer.published.append({"kty": "oct", "k": secret, "kid": "s", "alg": "HS256"})
    claims = jwt.decode(issuer.sign(), options={"verify_signature": False})
    assert ask(jwt.encode(claims, b"x" * 32, "HS256", headers={"kid": "s"})) == 401


def test_an_algorithm_that_is_not_listed_is_refused(ask, issuer):
    issuer.make_key("other", "RS512")
    assert ask(issuer.sign("other", "RS512")) == 401


def test_a_class_with_a_symmetric_algorithm_is_improperly_configured(subtests):
    for algorithms in [["HS256"], ["none"], ["RS256", "HS512"], []]:
        with subtests.test(algorithms=algorithms):
            with pytest.raises(ImproperlyConfigured, match="public key"):
                type("Wrong", (JWTAuthentication,), {"algorithms": algorithms})


def test_a_deeply_nested_token_is_refused(subtests):
    for place in [0, 1]:
        with subtests.test(place=place):
            deep = base64.urlsafe_b64encode(b"[" * 100_000).decode().rstrip("=")
            parts = [part({"alg": "RS256", "kid": "one"}), part({"iss": ISSUER}), "AAAA"]
            parts[place] = deep
            assert ShopLogin().authenticate(request_with(".".join(parts))) is None


@given(
    header=st.dictionaries(
        st.sampled_from(["alg", "kid", "typ", "crit", "b64"]),
        st.none() | st.text() | st.integers() | st.booleans() | st.lists(st.text()),
    )
)
def test_no_header_breaks_the_check(header):
    class Offline(ShopLogin):
        def get_key_set(self) -> Any:
            raise jwt.exceptions.PyJWKClientError("unknown")

    claims = part({"iss": ISSUER})
    try:
        found = Offline().authenticate(request_with(f"{part(header)}.{claims}.AAAA"))
    except AuthenticationFailed:
        return
    assert found is None


# --- The type of a token ------------------------------------------------------------------


class OfTwoTypes(ShopLogin):
    """For a server whose access tokens have no type of their own."""

    token_types = ("at+jwt", "JWT")


@pytest.mark.parametrize(
    ("typ", "strict", "open_to_two"),
    [
        ("at+jwt", 200, 200),
        ("AT+JWT", 200, 200),
        ("application/at+jwt", 200, 200),
        ("JWT", 401, 200),
        ("jwt", 401, 200),
        (None, 401, 200),
        ("logout+jwt", 401, 401),
        ("dpop+jwt", 401, 401),
    ],
)
def test_a_token_has_to_be_an_access_token(ask, issuer, typ, strict, open_to_two):
    """The header ``typ`` of RFC 9068; a token without one is a JWT."""
    token = issuer.sign(typ=typ)
    assert (ask(token), ask(token, OfTwoTypes)) == (strict, open_to_two)


def test_the_log_names_the_attribute_and_the_answer_does_not(issuer, caplog, settings):
    settings.DRF_MCP = OAUTH
    with pytest.raises(AuthenticationFailed) as refused:
        ShopLogin().authenticate(request_with(issuer.sign(typ="JWT")))
    assert str(refused.value) == "The access token is not valid."
    (record,) = [each for each in caplog.records if each.name == "drf_mcp"]
    assert 'ShopLogin.token_types = ("at+jwt", "JWT")' in record.getMessage()
    assert "'JWT'" in record.getMessage()


# --- Keys ---------------------------------------------------------------------------------


@pytest.fixture
def wait(monkeypatch):
    """Return a function that lets seconds pass for the keys."""
    clock = SimpleNamespace(later=0.0)
    own = SimpleNamespace(monotonic=lambda: time.monotonic() + clock.later)
    monkeypatch.setattr(tokens, "time", own)

    def wait(seconds: float) -> None:
        clock.later += seconds

    return wait


def wait_for_readers() -> None:
    """Wait until keys that are read in the background are read."""
    for thread in threading.enumerate():
        if thread.name.endswith("(_read)"):
            thread.join(10)


def test_a_new_key_is_fetched_when_a_token_names_it(ask, issuer, wait):
    assert ask(issuer.sign()) == 200
    issuer.make_key("two")
    wait(31)
    assert ask(issuer.sign("two")) == 200
    assert issuer.asked == 2


@pytest.mark.parametrize("left", [1, 0])
def test_a_withdrawn_key_is_no_longer_accepted(ask, issuer, wait, left):
    issuer.make_key("two")
    assert ask(issuer.sign()) == 200
    issuer.published = issuer.published[1:][:left]
    wait(301)
    assert ask(issuer.sign()) == 401


def test_keys_are_read_in_the_background_before_they_are_too_old(ask, issuer, wait):
    assert ask(issuer.sign()) == 200
    issuer.make_key("two")
    del issuer.published[0]
    wait(200)
    assert tokens.get_key_set(issuer.url).get_signing_key("one")
    wait_for_readers()
    assert ask(issuer.sign()) == 401
    assert issuer.asked == 2


@pytest.mark.parametrize("outage", [{"status": 502}, {"status": 429}, {"is_down": True}])
def test_keys_outlive_an_outage_of_their_server_for_a_day(ask, issuer, wait, caplog, outage):
    assert ask(issuer.sign()) == 200
    for name, value in outage.items():
        setattr(issuer, name, value)
    for seconds in (301, 60, 80_000):
        wait(seconds)
        assert ask(issuer.sign()) == 200
        wait_for_readers()
    # A key that cannot be looked up may be a new one.
    issuer.private["two"] = issuer.private["one"]
    assert ask(issuer.sign("two")) == 503
    said = [each.getMessage() for each in caplog.records if each.name == "drf_mcp"]
    assert [text for text in said if "cannot be read" in text] == said[:1]
    wait(6_100)
    assert ask(issuer.sign()) == 503


def test_a_key_set_that_is_read_after_an_outage_counts(ask, issuer, wait):
    assert ask(issuer.sign()) == 200
    issuer.status = 503
    wait(3600)
    assert ask(issuer.sign()) == 200
    issuer.make_key("two")
    del issuer.published[0]
    issuer.status = 200
    wait(11)
    assert ask(issuer.sign("two")) == 200
    assert ask(issuer.sign()) == 401


@pytest.mark.parametrize(
    "answer", [{"status": 404}, {"body": b"<html>"}, {"body": b"{}"}, {"body": b"[" * 99_999}]
)
def test_an_answer_without_a_key_set_is_no_outage(ask, issuer, wait, answer):
    assert ask(issuer.sign()) == 200
    for name, value in answer.items():
        setattr(issuer, name, value)
    wait(301)
    assert ask(issuer.sign()) == 503


@pytest.mark.slow
def test_a_flood_of_unknown_keys_does_not_reach_the_server(ask, issuer):
    assert ask(issuer.sign()) == 200
    for number in range(20):
        issuer.private[f"unknown{number}"] = issuer.private["one"]
        assert ask(issuer.sign(f"unknown{number}")) == 401
    assert issuer.asked == 1


@pytest.mark.parametrize("kid", [None, 1, ["one"], {}])
def test_a_token_without_a_key_id_fetches_no_keys(ask, issuer, kid):
    claims = issuer.sign().split(".")[1]
    header = {"alg": "RS256"} if kid is None else {"alg": "RS256", "kid": kid}
    assert ask(f"{part(header)}.{claims}.AAAA") == 401
    assert issuer.asked == 0


def test_unreachable_keys_are_answered_503_and_not_401(ask, issuer, wait):
    issuer.status = 500
    assert ask(issuer.sign()) == 503
    # The view and the endpoint ask once together: a failing server is not asked again.
    assert issuer.asked == 1
    issuer.status = 200
    wait(11)
    assert ask(issuer.sign()) == 200


# --- Users --------------------------------------------------------------------------------


def test_a_user_is_found_by_the_claim_and_field_that_the_class_names(ask, issuer):
    class ByMail(ShopLogin):
        username_claim = "email"
        user_field = "email"

    User.objects.filter(username="alice").update(email="alice@shop.example")
    assert ask(issuer.sign(sub="x", email="alice@shop.example"), ByMail) == 200
    assert ask(issuer.sign(sub="alice"), ByMail) == 401
    User.objects.filter(username="carol").update(email="alice@shop.example")
    assert ask(issuer.sign(email="alice@shop.example"), ByMail) == 401


def test_an_inactive_user_is_refused(ask, issuer):
    User.objects.filter(username="alice").update(is_active=False)
    assert ask(issuer.sign()) == 401


def test_a_token_of_another_issuer_is_left_to_the_next_class(ask, issuer):
    class Partner(ShopLogin):
        issuer = "https://partner.example"

    assert ask(issuer.sign(iss="https://partner.example"), ShopLogin, Partner) == 200
    assert ask(issuer.sign(), ShopLogin, Partner) == 200
    assert ask(issuer.sign(iss="https://third.example"), ShopLogin, Partner) == 401


# --- Settings and audiences ---------------------------------------------------------------


@pytest.mark.parametrize("missing", ["issuer", "jwks_url", "audience"])
def test_a_class_without_a_needed_attribute_is_improperly_configured(
    issuer, settings, rf, db, missing
):
    settings.DRF_MCP = {}
    given = {"audience": OAUTH["RESOURCE"], missing: ""}
    made = type("Incomplete", (ShopLogin,), given)()
    request = rf.get("/", headers={"authorization": f"Bearer {issuer.sign()}"})
    with pytest.raises(ImproperlyConfigured, match=missing):
        made.authenticate(request)


def test_the_audience_is_the_resource_unless_the_class_names_another(ask, issuer):
    class Named(ShopLogin):
        audience = ("api://shop", "https://shop.example")

    assert ask(issuer.sign(aud="api://shop"), Named) == 200
    assert ask(issuer.sign(aud="https://shop.example"), Named) == 200
    assert ask(issuer.sign(), Named) == 401


@pytest.mark.parametrize(
    ("audience", "status"),
    [
        ("https://shop.example/mcp", 200),
        ("https://shop.example/staff/mcp", 401),
        (["https://other.example", "https://shop.example/staff/mcp"], 401),
        (["https://shop.example/staff/mcp", "https://shop.example/mcp"], 200),
    ],
)
def test_a_token_for_one_endpoint_is_refused_by_another(expose, issuer, db, audience, status):
    class ForBoth(ShopLogin):
        audience = ("https://shop.example/mcp", "https://shop.example/staff/mcp")

    view = type("Orders", (Orders,), {"authentication_classes": [ForBoth]})
    expose(path("orders/", view.as_view()), **{**OAUTH, "AUTHENTICATION_CLASSES": [ForBoth]})
    token = issuer.sign(aud=audience)
    agent = Agent(Client(headers={"authorization": f"Bearer {token}"}), "2025-11-25")
    message, headers = agent.frame("tools/call", {"name": "orders_get", "arguments": {}})
    assert agent.post(message, headers).status_code == status


class ForTwo(ShopLogin):
    """Accepts tokens for two endpoints; the URL of one is a prefix of the other's."""

    audience = ("http://testserver/mcp", "http://testserver/mcp2")


@pytest.fixture
def serve_two(expose, issuer, db):
    def serve(audience: Any) -> Client:
        view = type("Orders", (Orders,), {"authentication_classes": [ForTwo]})
        more = {"RESOURCE": None, "AUTHENTICATION_CLASSES": [ForTwo]}
        expose(
            path("mcp2", MCPView.as_view()), path("orders/", view.as_view()), **{**OAUTH, **more}
        )
        return Client(headers={"authorization": f"Bearer {issuer.sign(aud=audience)}"})

    return serve


@pytest.mark.parametrize("own", ["/mcp", "/mcp2"])
def test_an_audience_is_compared_whole(serve_two, own):
    client = serve_two(f"http://testserver{own}")
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answers = {p: client.post(p, message, "application/json") for p in ("/mcp", "/mcp2")}
    statuses = {place: answer.status_code for place, answer in answers.items()}
    assert statuses == {place: 200 if place == own else 401 for place in statuses}


def test_a_token_is_refused_for_an_audience_that_the_class_does_not_name(serve_two, monkeypatch):
    monkeypatch.setattr(ForTwo, "audience", "http://testserver/mcp")
    client = serve_two(["http://testserver/mcp", "http://testserver/mcp2"])
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert client.post("/mcp", message, "application/json").status_code == 200
    assert client.post("/mcp2", message, "application/json").status_code == 401


@pytest.mark.parametrize(
    ("audience", "status"),
    [
        ("http://testserver/mcp", 401),
        (["http://testserver/mcp", "http://testserver/mcp2"], 401),
        ("http://testserver", 200),
        ("api://shop", 200),
    ],
)
def test_a_token_for_the_endpoint_is_refused_by_the_api(serve_two, monkeypatch, audience, status):
    monkeypatch.setattr(ForTwo, "audience", (*ForTwo.audience, "http://testserver", "api://shop"))
    client = serve_two(audience)
    assert client.get("/orders/").status_code == status
    message, headers = Agent(client, "2025-11-25").frame(
        "tools/call", {"name": "orders_get", "arguments": {}}
    )
    assert Agent(client, "2025-11-25").post(message, headers).status_code == 200


def test_an_access_token_has_the_interface_of_other_packages_tokens():
    token = AccessToken({}, ["a", "b"])
    assert token.scope == "a b"
    assert not token.is_expired()
    assert token.is_valid(["a"])
    assert token.is_valid()
    assert not token.allow_scopes(["a", "c"])
