"""The official Python client signs in to the shop on a real server, as with `make demo OAUTH=1`.

HTTP requests and form posts act as the browser of the user.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.client.auth.oauth2 import AuthorizationCodeResult
from mcp.shared.auth import OAuthClientMetadata

from tests.access.conftest import Issuer, serving
from tests.access.test_sign_in import Memory
from tests.access.views import ISSUER
from tests.programs.interop.person import Person
from tests.programs.interop.servers import ROOT, RunningServer, Shop, running

REDIRECT = "http://127.0.0.1:4000/callback"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.fixture(scope="module")
def company() -> Iterator[Issuer]:
    """The identity provider of a company, which the shop trusts."""
    company = Issuer()
    company.make_key("one")
    with serving(company), pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHOP_COMPANY", ISSUER)
        patch.setenv("SHOP_COMPANY_KEYS", company.url)
        yield company


@pytest.fixture(scope="module")
def server(company, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sign_in")
    shop = Shop(folder / "shop.sqlite3", "tests.programs.interop.oauth_settings")
    shop.seed()
    with running("uvicorn", shop, folder / "log") as server:
        yield server


def manage(shop: Shop, *arguments: str) -> None:
    command = [sys.executable, "manage.py", *arguments]
    subprocess.run(command, cwd=ROOT, env=shop.environment, check=True, capture_output=True)


class SignIn:
    """The client and its user."""

    def __init__(self, server: RunningServer, username: str = "alice") -> None:
        self.url = server.url
        self.person = Person(username)
        self.memory = Memory()
        self.back: dict[str, str] = {}

    async def open_browser(self, url: str) -> None:
        self.back = await anyio.to_thread.run_sync(self.person.consent, url)

    async def come_back(self) -> AuthorizationCodeResult:
        found = {name: self.back.get(name) for name in ("code", "state", "iss")}
        return AuthorizationCodeResult(**found)

    def send(self, *messages: dict[str, Any]) -> list[httpx2.Response]:
        async def run() -> list[httpx2.Response]:
            metadata = OAuthClientMetadata(redirect_uris=[REDIRECT], client_name="Official client")
            login = OAuthClientProvider(
                self.url, metadata, self.memory, self.open_browser, self.come_back
            )
            async with httpx2.AsyncClient(auth=login, timeout=30) as client:
                return [await client.post(self.url, json=message) for message in messages]

        return anyio.run(run)


@pytest.fixture
def sign_in_of(server) -> Iterator[Callable[..., SignIn]]:
    """The client of a user: ``sign_in_of(\"bob\")``."""
    opened: list[SignIn] = []

    def sign_in(username: str = "alice") -> SignIn:
        opened.append(SignIn(server, username))
        return opened[-1]

    yield sign_in
    for one in opened:
        one.person.browser.close()


def call(name: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}


def data_of(response: httpx2.Response) -> Any:
    (block,) = response.json()["result"]["content"]
    return json.loads(block["text"])["data"]


def test_a_client_registers_signs_in_and_calls_tools_as_the_user(server, sign_in_of):
    sign_in = sign_in_of()
    listed, called = sign_in.send(LIST, call("customers_list", page_size=100))
    assert listed.status_code == 200
    by_token = httpx2.get(
        server.url.replace("/mcp", "/api/customers/?page_size=100"),
        headers={"Authorization": f"Token {server.shop.tokens['alice']}"},
    ).json()
    assert data_of(called)["results"] == by_token["results"]
    assert sign_in.memory.tokens.scope == "shop"


def test_a_token_for_the_endpoint_does_not_open_the_api(server, sign_in_of):
    sign_in = sign_in_of()
    _, called = sign_in.send(LIST, call("customers_list"))
    assert data_of(called)["results"]
    bearer = {"Authorization": f"Bearer {sign_in.memory.tokens.access_token}"}
    direct = httpx2.get(server.url.replace("/mcp", "/api/customers/"), headers=bearer)
    assert direct.status_code == 401


def test_a_refreshed_token_is_accepted_and_refreshing_twice_revokes_it(server, sign_in_of):
    sign_in = sign_in_of()
    sign_in.send(LIST)
    first = sign_in.memory.tokens
    base = server.url.removesuffix("/mcp")
    sent = {
        "grant_type": "refresh_token",
        "refresh_token": first.refresh_token,
        "client_id": sign_in.memory.client.client_id,
        "resource": server.url,
    }
    if secret := sign_in.memory.client.client_secret:
        sent["client_secret"] = secret
    renewed = httpx2.post(f"{base}/o/token/", data=sent).json()
    bearer = {"Authorization": f"Bearer {renewed['access_token']}"}
    assert httpx2.post(server.url, json=LIST, headers=bearer).status_code == 200
    assert httpx2.post(f"{base}/o/token/", data=sent).json()["error"] == "invalid_grant"
    # A copy of the refresh token is useless then.
    assert httpx2.post(server.url, json=LIST, headers=bearer).status_code == 401


def test_a_client_of_a_company_signs_in_by_an_assertion_as_the_linked_user(server, company):
    name, kind = ["--name=Company", "--client-id=company"], ["confidential", "authorization-code"]
    rest = ["--client-secret=secret", f"--redirect-uris={REDIRECT}"]
    manage(server.shop, "createapplication", *name, *rest, *kind)
    manage(server.shop, "mcp_link_identity", ISSUER, "--subject=00u1", "--user=alice")

    async def vouch(audience: str, resource: str) -> str:
        claims = {"aud": audience, "resource": resource, "client_id": "company", "sub": "00u1"}
        once = {"jti": uuid.uuid4().hex, "iat": int(time.time())}
        return company.sign(typ="oauth-id-jag+jwt", **claims, **once)

    memory, issuer = Memory(), server.url.replace("/mcp", "/o")

    async def run() -> httpx2.Response:
        client = ("company", "secret")
        login = IdentityAssertionOAuthProvider(server.url, memory, *client, issuer, vouch)
        async with httpx2.AsyncClient(auth=login, timeout=30) as http:
            return await http.post(server.url, json=call("customers_list"))

    assert data_of(anyio.run(run))["results"]
    assert (memory.tokens.scope, memory.tokens.refresh_token) == ("shop", None)
