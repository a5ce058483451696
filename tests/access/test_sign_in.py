"""The official Python client signs in: it finds the server, gets a token, and asks for scopes."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.test import Client
from django.urls import path
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.oauth2 import AuthorizationCodeResult
from mcp.shared.auth import OAuthClientMetadata

from tests.access.conftest import OAUTH
from tests.access.views import ISSUER, Refunder, ShopLogin, view_with

ENDPOINT = "https://shop.example/mcp"
LOGIN = f"{ISSUER}/login"
METADATA = {
    "issuer": ISSUER,
    "authorization_endpoint": LOGIN,
    "token_endpoint": f"{ISSUER}/token",
    "registration_endpoint": f"{ISSUER}/register",
    "response_types_supported": ["code"],
    "code_challenge_methods_supported": ["S256"],
}
REDIRECT = "http://127.0.0.1:4000/callback"


class Memory:
    """The client's storage."""

    tokens: Any = None
    client: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client: Any) -> None:
        self.client = client


class Network:
    """The shop, and an authorization server that always consents."""

    def __init__(self, issuer: Any) -> None:
        self.issuer = issuer
        self.shop = Client()
        self.asked: list[str] = []
        self.consents: list[dict[str, str]] = []

    async def answer(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(f"{request.method} {request.url}")
        body = await request.aread()
        if request.url.host == "shop.example":
            return await sync_to_async(self.answer_for_shop)(request, body)
        return self.answer_for_login(request.url.path.rpartition("/")[2], body)

    def answer_for_shop(self, request: httpx2.Request, body: bytes) -> httpx2.Response:
        response = self.shop.generic(
            request.method,
            request.url.path,
            body,
            content_type=request.headers.get("content-type", ""),
            secure=True,
            headers=dict(request.headers),
        )
        return httpx2.Response(
            response.status_code, headers=dict(response.headers), content=response.content
        )

    def answer_for_login(self, name: str, body: bytes) -> httpx2.Response:
        if name == "register":
            return httpx2.Response(201, json={**json.loads(body), "client_id": "agent"})
        if name == "token":
            sent = {key: values[0] for key, values in parse_qs(body.decode()).items()}
            consent = self.consents[-1]
            assert sent["resource"] == consent["resource"]
            token = self.issuer.sign(aud=sent["resource"], scope=consent["scope"])
            answer = {"access_token": token, "token_type": "Bearer", "scope": consent["scope"]}
            return httpx2.Response(200, json={**answer, "expires_in": 300})
        if "oauth-authorization-server" in self.asked[-1]:
            return httpx2.Response(200, json=METADATA)
        return httpx2.Response(404)

    async def open_browser(self, url: str) -> None:
        assert url.startswith(LOGIN)
        query = parse_qs(urlsplit(url).query)
        self.consents.append({key: values[0] for key, values in query.items()})

    async def come_back(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(code="code", state=self.consents[-1]["state"], iss=ISSUER)

    def client(self) -> httpx2.AsyncClient:
        metadata = OAuthClientMetadata(redirect_uris=[REDIRECT], client_name="Agent")
        login = OAuthClientProvider(ENDPOINT, metadata, Memory(), self.open_browser, self.come_back)
        return httpx2.AsyncClient(auth=login, transport=httpx2.MockTransport(self.answer))


@pytest.fixture
def network(expose, issuer, db, settings) -> Network:
    settings.ALLOWED_HOSTS = ["shop.example"]
    expose(
        path("orders/", view_with(Refunder, authentication_classes=[Shopkeeper]).as_view()),
        **{**OAUTH, "RESOURCE": None, "AUTHENTICATION_CLASSES": [Shopkeeper]},
        SCOPES=["shop"],
        PERMISSION_CLASSES=["rest_framework.permissions.IsAuthenticated"],
    )
    return Network(issuer)


class Shopkeeper(ShopLogin):
    """Accepts tokens for the URL of the endpoint."""

    audience = ENDPOINT


def send(network: Network, *messages: dict[str, Any]) -> list[httpx2.Response]:
    async def run() -> list[httpx2.Response]:
        async with network.client() as client:
            return [await client.post(ENDPOINT, json=message) for message in messages]

    return async_to_sync(run)()


def call(name: str) -> dict[str, Any]:
    params = {"name": name, "arguments": {}}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def test_the_client_finds_the_server_and_gets_a_token(network):
    (response,) = send(network, LIST)
    assert response.status_code == 200
    (consent,) = network.consents
    assert (consent["resource"], consent["scope"]) == (ENDPOINT, "shop")
    assert network.asked[:3] == [
        f"POST {ENDPOINT}",
        "GET https://shop.example/.well-known/oauth-protected-resource/mcp",
        "GET https://login.shop.example/.well-known/oauth-authorization-server/realms/shop",
    ]


def test_the_client_asks_for_the_scope_that_a_call_lacks(network):
    listed, called, again = send(network, LIST, call("orders_get"), call("orders_get"))
    assert "orders_get" in listed.text
    assert [consent["scope"] for consent in network.consents] == ["shop", "shop refunds:write"]
    for response in (called, again):
        (block,) = response.json()["result"]["content"]
        assert json.loads(block["text"])["data"] == {"by": "alice"}
