"""The official Python client signs in at an external authorization server.

oidc-provider, a certified OpenID provider, issues JSON Web Tokens for `JWTAuthentication`.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest

from tests.programs.interop import servers
from tests.programs.interop.person import Person
from tests.programs.interop.servers import RunningServer, Shop, running
from tests.programs.interop.test_own_sign_in import LIST, SignIn, call, data_of

SCRIPT = Path(__file__).with_name("oidc_provider.mjs")


@pytest.fixture(scope="module")
def server(tmp_path_factory, node_modules) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("external")
    own, other = servers.free_port(), servers.free_port()
    issuer, resource = f"http://{servers.HOST}:{other}", f"http://{servers.HOST}:{own}/mcp"
    with pytest.MonkeyPatch.context() as patch, (folder / "provider").open("wb") as log:
        patch.setattr(servers, "free_port", lambda: own)
        patch.setenv("SHOP_ISSUER", issuer)
        patch.setenv("SHOP_RESOURCE", resource)
        provider = subprocess.Popen(
            [node_modules / ".bin" / "node", SCRIPT, str(other), resource],
            env={**os.environ, "NODE_PATH": str(node_modules)},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            servers.wait_until_ready(provider, other, folder / "provider")
            shop = Shop(folder / "shop.sqlite3", "tests.programs.interop.external_settings")
            shop.seed()
            with running("uvicorn", shop, folder / "log") as server:
                yield server
        finally:
            servers.stop(provider)


class Visitor(Person):
    """Fills in the two forms of oidc-provider: the login and the consent."""

    def consent(self, url: str, answer: str = "") -> dict[str, str]:
        page = self.go(url)
        page = self.submit(page, login=self.username, password="any")
        return self.come_back(self.submit(page))


@pytest.fixture
def sign_in(server) -> Iterator[SignIn]:
    sign_in = SignIn(server)
    sign_in.person.browser.close()
    sign_in.person = Visitor("alice")
    yield sign_in
    sign_in.person.browser.close()


def test_the_client_signs_in_and_calls_tools_as_the_user(server, sign_in):
    listed, called = sign_in.send(LIST, call("customers_list", page_size=100))
    assert listed.status_code == 200
    assert data_of(called)["results"]
    token = sign_in.memory.tokens.access_token
    claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    assert (claims["aud"], claims["sub"], claims["scope"]) == (server.url, "alice", "shop")
