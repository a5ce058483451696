"""The official Python and TypeScript clients, which start the server as a subprocess."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import mcp.client.session
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.agents import REVISIONS, STATELESS
from tests.programs.interop.servers import ROOT

SCRIPT = Path(__file__).with_name("stdio_client.cjs")
SERVER = [sys.executable, str(ROOT / "manage.py"), "mcp_stdio", "--as", "alice"]

# Package of the SDK (its first and second version) and revision.
TYPESCRIPT_CLIENTS = [
    ("sdk", "2025-11-25"),
    pytest.param(("client", "2025-11-25"), marks=pytest.mark.nightly),
    ("client", STATELESS),
]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "revision",
    [
        revision if revision == STATELESS else pytest.param(revision, marks=pytest.mark.nightly)
        for revision in REVISIONS
    ],
)
async def test_python_client_lists_and_calls(shop, revision, monkeypatch):
    # The SDK offers its newest revision and has no option for another one.
    if revision != STATELESS:
        monkeypatch.setattr(mcp.client.session, "LATEST_HANDSHAKE_VERSION", revision)
    parameters = StdioServerParameters(command=SERVER[0], args=SERVER[1:], env=shop.environment)
    mode = "auto" if revision == STATELESS else "legacy"
    async with Client(parameters, mode=mode) as client:
        assert client.protocol_version == revision
        assert client.server_info.name == "shop"
        names = {tool.name for tool in (await client.list_tools()).tools}
        stats = await client.call_tool("stats", {})
        refused = await client.call_tool("quote", {"product": "none"})
    assert {"customers_list", "orders_create", "stats"} <= names
    assert "customers_deactivate" not in names
    assert json.loads(stats.content[0].text)["data"]["customers"] == 30
    assert refused.is_error


@pytest.fixture(scope="module", params=TYPESCRIPT_CLIENTS, ids=" ".join)
def seen(request, shop, node_modules):
    command = [node_modules / ".bin" / "node", SCRIPT, *request.param, *SERVER]
    environment = {**os.environ, **shop.environment, "NODE_PATH": str(node_modules)}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_typescript_client_lists_the_tools_of_the_user(seen):
    assert seen["server"] == "shop"
    assert {"customers_list", "orders_create", "stats"} <= set(seen["names"])
    assert "customers_deactivate" not in seen["names"]


def test_typescript_client_takes_results(seen):
    assert seen["stats"]["structuredContent"]["data"]["customers"] == 30
    assert seen["refused"]["isError"] is True
