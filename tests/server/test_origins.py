"""Requests from pages of other sites are refused, and requests from allowed sites are not."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.agents import Agent

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture
def status_of(expose, settings):
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_SCHEME", "https")

    def status(
        origin: str | None,
        allowed: tuple[str, ...] = (),
        site: str | None = None,
        host: str = "localhost",
        secure: bool = False,
    ) -> int:
        expose(ALLOWED_ORIGINS=list(allowed))
        scheme = "https" if secure else "http"
        headers = {"Host": host, "X-Scheme": scheme, "Origin": origin, "Sec-Fetch-Site": site}
        sent = {name: value for name, value in headers.items() if value is not None}
        return Agent(Client()).post(PING, sent).status_code

    return status


# A client that is no browser sends no Origin header.
@pytest.mark.parametrize("origin", [None, "http://localhost", "http://LOCALHOST:80"])
def test_a_page_of_the_same_origin_is_allowed(status_of, origin):
    assert status_of(origin) == 200


@pytest.mark.parametrize(
    ("place", "other"),
    [
        ("http://localhost:8000", "http://localhost:3000"),
        ("http://localhost:8000", "http://localhost"),
        ("http://localhost:8000", "https://localhost:8000"),
        ("https://localhost", "http://localhost"),
        ("https://localhost", "https://localhost:8443"),
        ("http://127.0.0.1:8000", "http://localhost:8000"),
        ("http://[::1]:6274", "http://[::1]:6275"),
    ],
)
def test_an_origin_is_compared_with_scheme_and_port(status_of, place, other):
    scheme, _, host = place.partition("://")
    own = {"host": host, "secure": scheme == "https"}
    assert status_of(place, **own) == 200
    assert status_of(other, **own) == 403
    assert status_of(other, (other,), **own) == 200


def test_a_page_of_the_same_origin_is_allowed_behind_a_proxy_that_hides_https(status_of):
    """The browser says `same-origin`, although Django sees another scheme."""
    assert status_of("https://localhost", site="same-origin") == 200
    assert status_of("https://evil.example", site="same-origin") == 403


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "https://testserver.evil.example",
        "https://evil.example/testserver",
        "http://[::2]",
        "http://[::1",
        "null",
        "",
        "testserver",
        "file://",
        "//",
    ],
)
def test_any_other_origin_is_refused(status_of, origin):
    assert status_of(origin) == 403


APP = "https://app.example.com"


@pytest.mark.parametrize(
    ("origin", "allowed", "status"),
    [
        (APP, APP, 200),
        ("null", "null", 200),
        # The scheme and the port are compared too.
        ("http://app.example.com", APP, 403),
        (f"{APP}:8443", APP, 403),
    ],
)
def test_an_origin_in_the_setting_is_allowed(status_of, origin, allowed, status):
    assert status_of(origin, (allowed,)) == status


@pytest.mark.parametrize(
    ("hosts", "debug", "admitted", "refused"),
    [
        ([".example.com", "localhost"], False, APP, "https://example.org"),
        # Anybody can point a domain at this server, so "*" allows no origin.
        (["*"], False, None, "http://localhost"),
        (["*", "app.example.com"], False, APP, "https://evil.example"),
        (["*"], True, "http://localhost:8000", "https://evil.example"),
        ([], True, "http://app.localhost:5173", "https://evil.example"),
    ],
)
def test_allowed_hosts_limit_the_origins(status_of, settings, hosts, debug, admitted, refused):
    """The Origin header equals the origin of the request in each case."""
    settings.ALLOWED_HOSTS, settings.DEBUG = hosts, debug
    places = [(admitted, 200), (refused, 403 if "*" in hosts else 400)]
    for origin, status in places:
        scheme, _, host = (origin or "http://localhost").partition("://")
        assert status_of(origin, host=host, secure=scheme == "https") == status
    own = hosts[-1] if hosts and hosts[-1] != "*" else "localhost"
    assert status_of("https://other.example", ("https://other.example",), host=own) == 200


# --- The Sec-Fetch-Site header ------------------------------------------------------------


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_a_request_that_is_not_from_another_site_is_allowed(status_of, site):
    assert status_of("http://localhost", site=site) == 200


@pytest.mark.parametrize("site", ["same-site", "cross-site", "something-new", ""])
def test_a_request_from_another_site_needs_an_allowed_origin(status_of, site):
    """Another port or subdomain of an allowed host is another origin."""
    assert status_of("http://localhost:3000", site=site) == 403
    assert status_of("http://localhost:3000", ("http://localhost:3000",), site) == 200
    assert status_of(None, site=site) == 403


def test_the_origin_is_checked_before_the_credentials(client):
    assert Agent(client).post(PING, {"Origin": "https://evil.example"}).status_code == 403


def test_the_origin_is_checked_for_every_method(subtests, expose):
    for method in ["get", "delete"]:
        with subtests.test(method=method):
            expose()
            response = getattr(Client(), method)("/mcp", headers={"origin": "https://evil.example"})
            assert response.status_code == 403
