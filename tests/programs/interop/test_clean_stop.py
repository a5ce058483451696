"""A server that is stopped has written the record of every call."""

from __future__ import annotations

import json
import sqlite3
from urllib.request import Request, urlopen

import pytest

from tests.programs.interop.servers import Shop, running

CALLS = 12
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> Shop:
    """Another shop, since other servers may still write their records."""
    shop = Shop(tmp_path_factory.mktemp("stopped") / "shop.sqlite3")
    shop.seed()
    return shop


def count_records(shop: Shop) -> int:
    connection = sqlite3.connect(shop.database)
    ((count,),) = connection.execute("SELECT count(*) FROM drf_mcp_audit_auditedcall")
    connection.close()
    return count


def call(url: str, token: str) -> None:
    params = {"name": "customers_list", "arguments": {}, "_meta": META}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "Authorization": f"Token {token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "customers_list",
    }
    with urlopen(Request(url, json.dumps(body).encode(), headers)) as response:
        assert b'"isError":true' not in response.read()


@pytest.mark.parametrize("kind", ["uvicorn", pytest.param("gunicorn", marks=pytest.mark.nightly)])
def test_no_record_is_lost(kind, shop, tmp_path):
    before = count_records(shop)
    with running(kind, shop, tmp_path / "log") as server:
        for _ in range(CALLS):
            call(server.url, shop.tokens["alice"])
    assert count_records(shop) == before + CALLS
