"""On real servers behind a proxy, OAuth metadata has the public URLs."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from tests.programs.interop.servers import RunningServer

pytestmark = pytest.mark.nightly
FORWARDED = {
    "Host": "app.internal:8000",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "shop.example",
}
METADATA = "/.well-known/oauth-protected-resource/mcp"


@pytest.fixture(params=["gunicorn", "uvicorn"])
def server(request, server_of) -> RunningServer:
    return server_of(request.param, "tests.programs.interop.proxied_settings")


def ask(server: RunningServer, path: str, body: bytes | None = None, **headers: str) -> Any:
    address = server.url.removesuffix("/mcp") + path
    sent = {**FORWARDED, "Content-Type": "application/json", **headers}
    try:
        return urllib.request.urlopen(urllib.request.Request(address, body, sent), timeout=30)
    except HTTPError as exc:
        return exc


def test_a_caller_without_credentials_gets_the_public_url_of_the_metadata(server):
    response = ask(server, "/mcp", b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}')
    assert response.status == 401
    challenge = response.headers["WWW-Authenticate"]
    assert challenge.startswith("Bearer ")
    assert f'resource_metadata="https://shop.example{METADATA}", scope="shop"' in challenge
    response.close()


def test_the_metadata_has_the_public_url_of_the_endpoint(server):
    with ask(server, METADATA, Origin="https://inspector.example") as response:
        document = json.load(response)
        assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert document["resource"] == "https://shop.example/mcp"
    assert document["authorization_servers"] == ["https://login.shop.example"]


@pytest.mark.parametrize("library", ["sdk", "client"])
def test_the_typescript_sdk_finds_the_authorization_server(server_of, node_modules, library):
    server = server_of("uvicorn", "tests.programs.interop.proxied_settings")
    script = Path(__file__).with_name("typescript_discovery.cjs")
    done = subprocess.run(
        [node_modules / ".bin" / "node", script, library, server.url],
        env={**os.environ, "NODE_PATH": str(node_modules)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["challenge"] == {
        "resourceMetadataUrl": f"https://shop.example{METADATA}",
        "scope": "shop",
    }
    assert seen["metadata"]["authorization_servers"] == ["https://login.shop.example"]
    assert seen["resource"] == "https://shop.example/mcp"
