"""Browser pages of other sites are refused, those of ours and of allowed ones are not."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from tests.agents import Agent

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture
def status_of(expose):
    """Return the HTTP status that a page of an origin gets."""

    def status(origin: str | None, allowed: tuple[str, ...] = ()) -> int:
        expose(ALLOWED_ORIGINS=list(allowed))
        headers = {"Host": "localhost"} | ({} if origin is None else {"Origin": origin})
        return Agent(Client()).post(PING, headers).status_code

    return status


def test_a_client_that_is_no_browser_sends_no_origin(status_of):
    assert status_of(None) == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://testserver",
        "https://testserver",
        "http://TESTSERVER:8000",
        "http://localhost:3000",
        "http://127.0.0.1",
        "http://[::1]",
        "http://[::1]:6274",
    ],
)
def test_a_page_of_an_allowed_host_is_let_in_on_any_port(status_of, origin):
    assert status_of(origin) == 200


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
def test_any_other_origin_is_forbidden(status_of, origin):
    assert status_of(origin) == 403


def test_the_refusal_is_a_json_rpc_error_without_an_id(expose):
    expose()
    response = Agent(Client()).post(PING, {"Origin": "https://evil.example"})
    answer = json.loads(response.content)
    assert (answer["id"], answer["error"]["message"]) == (None, "This origin is not allowed.")


def test_an_allowed_origin_is_let_in(status_of):
    assert status_of("https://app.example.com", ("https://app.example.com",)) == 200


@pytest.mark.parametrize("origin", ["http://app.example.com", "https://app.example.com:8443"])
def test_an_allowed_origin_counts_with_its_scheme_and_port(status_of, origin):
    assert status_of(origin, ("https://app.example.com",)) == 403


def test_even_null_may_be_allowed(status_of):
    assert status_of("null", ("null",)) == 200


def test_a_subdomain_pattern_of_allowed_hosts_holds_for_origins(status_of, settings):
    settings.ALLOWED_HOSTS = [".example.com", "localhost"]
    assert status_of("https://app.example.com") == 200
    assert status_of("https://example.org") == 403


def test_while_debugging_without_allowed_hosts_this_machine_is_allowed(status_of, settings):
    settings.ALLOWED_HOSTS = []
    settings.DEBUG = True
    assert status_of("http://app.localhost:5173") == 200
    assert status_of("https://evil.example") == 403


def test_any_host_admits_no_origin(status_of, settings):
    """A name of anybody's may be pointed at this server, and "*" takes it for the server's own."""
    settings.ALLOWED_HOSTS = ["*"]
    assert status_of("http://localhost") == 403
    assert status_of("https://evil.example") == 403
    assert status_of("https://app.example.com", ("https://app.example.com",)) == 200
    assert status_of(None) == 200


def test_any_host_leaves_those_that_are_named_beside_it(status_of, settings):
    settings.ALLOWED_HOSTS = ["*", "app.example.com"]
    assert status_of("https://app.example.com") == 200
    assert status_of("https://evil.example") == 403


def test_any_host_while_debugging_admits_this_machine(status_of, settings):
    settings.ALLOWED_HOSTS = ["*"]
    settings.DEBUG = True
    assert status_of("http://localhost:8000") == 200
    assert status_of("https://evil.example") == 403


# --- What the browser says of the page ----------------------------------------------------


@pytest.fixture
def status_from(expose):
    """Return the HTTP status of a POST that a browser says comes from a site."""

    def status(site: str, origin: str | None = "http://localhost:3000", allowed=()) -> int:
        expose(ALLOWED_ORIGINS=list(allowed))
        headers = {"Host": "localhost", "Sec-Fetch-Site": site}
        headers |= {} if origin is None else {"Origin": origin}
        return Agent(Client()).post(PING, headers).status_code

    return status


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_a_page_of_this_origin_is_let_in(status_from, site):
    assert status_from(site) == 200


@pytest.mark.parametrize("site", ["same-site", "cross-site", "something-new", ""])
def test_a_page_of_another_origin_needs_to_be_allowed_by_name(status_from, site):
    """Another port or subdomain of an allowed host is another origin."""
    assert status_from(site) == 403
    assert status_from(site, allowed=("http://localhost:3000",)) == 200


def test_a_page_that_hides_its_origin_is_refused(status_from):
    assert status_from("cross-site", origin=None) == 403


def test_the_browser_is_asked_for_posts_only(expose):
    """A link from another site leads to the page."""
    expose(BROWSABLE_PAGE=True)
    headers = {"accept": "text/html", "sec-fetch-site": "cross-site"}
    assert Client(headers=headers).get("/mcp").status_code == 200


def test_a_refused_origin_is_told_before_a_missing_credential(client):
    assert Agent(client).post(PING, {"Origin": "https://evil.example"}).status_code == 403


@pytest.mark.parametrize("method", ["get", "delete"])
def test_an_origin_is_refused_whatever_the_method(expose, method):
    expose()
    response = getattr(Client(), method)("/mcp", headers={"origin": "https://evil.example"})
    assert response.status_code == 403
