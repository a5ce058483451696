"""Browser pages of other sites are refused, those of ours and of allowed ones are not."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from tests.agents import Agent

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture
def status_of(expose):
    def status(origin: str | None, allowed: tuple[str, ...] = (), site: str | None = None) -> int:
        expose(ALLOWED_ORIGINS=list(allowed))
        headers = {"Host": "localhost", "Origin": origin, "Sec-Fetch-Site": site}
        sent = {name: value for name, value in headers.items() if value is not None}
        return Agent(Client()).post(PING, sent).status_code

    return status


@pytest.mark.parametrize(
    "origin",
    [
        # A client that is no browser sends none.
        None,
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


APP = "https://app.example.com"


@pytest.mark.parametrize(
    ("origin", "allowed", "status"),
    [
        (APP, APP, 200),
        ("null", "null", 200),
        # An origin counts with its scheme and port.
        ("http://app.example.com", APP, 403),
        (f"{APP}:8443", APP, 403),
    ],
)
def test_an_allowed_origin_is_let_in(status_of, origin, allowed, status):
    assert status_of(origin, (allowed,)) == status


@pytest.mark.parametrize(
    ("hosts", "debug", "admitted", "refused"),
    [
        ([".example.com", "localhost"], False, APP, "https://example.org"),
        # A name of anybody's may be pointed at this server: "*" admits no origin by itself.
        (["*"], False, None, "http://localhost"),
        (["*", "app.example.com"], False, APP, "https://evil.example"),
        (["*"], True, "http://localhost:8000", "https://evil.example"),
        ([], True, "http://app.localhost:5173", "https://evil.example"),
    ],
)
def test_allowed_hosts_decide_on_origins(status_of, settings, hosts, debug, admitted, refused):
    settings.ALLOWED_HOSTS, settings.DEBUG = hosts, debug
    assert status_of(admitted) == 200
    assert status_of(refused) == 403
    assert status_of("https://other.example", ("https://other.example",)) == 200


# --- What the browser says of the page ----------------------------------------------------


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_a_page_of_this_origin_is_let_in(status_of, site):
    assert status_of("http://localhost:3000", site=site) == 200


@pytest.mark.parametrize("site", ["same-site", "cross-site", "something-new", ""])
def test_a_page_of_another_origin_needs_to_be_allowed_by_name(status_of, site):
    """Another port or subdomain of an allowed host is another origin."""
    assert status_of("http://localhost:3000", site=site) == 403
    assert status_of("http://localhost:3000", ("http://localhost:3000",), site) == 200
    assert status_of(None, site=site) == 403


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
