"""An authorization server for the tests, its public keys over HTTP, and tokens that it signs."""

from __future__ import annotations

import http.server
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from django.test import Client
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from drf_mcp.access import jwt as tokens
from tests.access.views import ISSUER
from tests.agents import Agent

OAUTH = {"AUTHORIZATION_SERVERS": [ISSUER], "RESOURCE": "https://shop.example/mcp"}


class Issuer:
    """Public keys by id, served over HTTP, and the number of requests for them."""

    def __init__(self) -> None:
        self.private: dict[str, Any] = {}
        self.published: list[dict[str, Any]] = []
        self.asked = 0
        self.status = 200
        self.is_down = False
        self.body: bytes | None = None
        self.url = ""

    def make_key(self, kid: str, algorithm: str = "RS256") -> None:
        if algorithm.startswith("ES"):
            key: Any = ec.generate_private_key(ec.SECP256R1())
            public = ECAlgorithm.to_jwk(key.public_key())
        else:
            key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
            public = RSAAlgorithm.to_jwk(key.public_key())
        self.private[kid] = key
        self.published.append({**json.loads(public), "kid": kid, "use": "sig", "alg": algorithm})

    def sign(
        self, kid: str = "one", algorithm: str = "RS256", typ: str | None = "at+jwt", **claims: Any
    ) -> str:
        """Return a token; a claim or a type of None is left out."""
        now = int(time.time())
        usual = {"iss": ISSUER, "aud": OAUTH["RESOURCE"], "sub": "alice", "exp": now + 300}
        payload = {name: value for name, value in {**usual, **claims}.items() if value is not None}
        return jwt.encode(payload, self.private[kid], algorithm, headers={"kid": kid, "typ": typ})


@pytest.fixture(scope="session")
def first_key() -> Issuer:
    issuer = Issuer()
    issuer.make_key("one")
    return issuer


@contextmanager
def serving(issuer: Issuer) -> Iterator[None]:
    """Serve the keys of an authorization server at its ``url``."""

    class Keys(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer.asked += 1
            if issuer.is_down:
                # The connection ends without an answer.
                return
            body = issuer.body or json.dumps({"keys": issuer.published}).encode()
            self.send_response(issuer.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            """Keep the output of the tests clean."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Keys) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        issuer.url = f"http://127.0.0.1:{server.server_port}/keys"
        yield
        server.shutdown()
        thread.join()


@pytest.fixture
def issuer(first_key, monkeypatch) -> Iterator[Issuer]:
    """A running authorization server with one key, ``one``."""
    issuer = Issuer()
    issuer.private, issuer.published = dict(first_key.private), list(first_key.published)
    with serving(issuer):
        monkeypatch.setattr("tests.access.views.ShopLogin.jwks_url", issuer.url)
        tokens.get_key_set.cache_clear()
        yield issuer


@pytest.fixture
def bearer(issuer, db) -> Callable[..., Agent]:
    """Agents with a token: ``bearer(scope="orders:read")``."""

    def agent(**claims: Any) -> Agent:
        headers = {"authorization": f"Bearer {issuer.sign(**claims)}"}
        return Agent(Client(headers=headers), revision="2025-11-25")

    return agent
