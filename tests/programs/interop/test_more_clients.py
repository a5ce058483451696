"""Two more public clients at a real server: FastMCP's, and the command line of the MCP Inspector.

Both validate a result by the tool's outputSchema. FastMCP also reads it into types made of the
schema; the Inspector takes arguments as ``key=value`` pairs.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

from tests.programs.interop.servers import RunningServer

ALICES_CUSTOMERS = 30
# The exit status of the Inspector after a result that is an error.
TOOL_IS_ERROR = 5
# Whether the client says that the tool failed, and the envelope, the same in both channels.
Answer = tuple[bool, dict[str, Any]]


@dataclass(frozen=True)
class FastMCP:
    """FastMCP's client, which finds the revision by discovery ("auto") or handshake ("legacy")."""

    server: RunningServer
    mode: str

    def connect(self) -> Client:
        headers = {"Authorization": f"Token {self.server.shop.tokens['alice']}"}
        return Client(StreamableHttpTransport(self.server.url, headers=headers), mode=self.mode)

    def tools(self) -> list[str]:
        async def ask() -> list[str]:
            async with self.connect() as client:
                return [tool.name for tool in await client.list_tools()]

        return anyio.run(ask)

    def call(self, name: str, /, **arguments: Any) -> Answer:
        async def ask() -> Answer:
            async with self.connect() as client:
                result = await client.call_tool(name, arguments, raise_on_error=False)
            # FastMCP does not raise if a result does not fit: it leaves out the data.
            assert result.is_error or result.data.success is True
            (block,) = result.content
            assert result.structured_content == json.loads(block.text)
            return result.is_error, result.structured_content

        return anyio.run(ask)


@dataclass(frozen=True)
class Inspector:
    """The Inspector's command line, whose state is in the folder ``home``."""

    server: RunningServer
    node_modules: Path
    home: Path

    def run(self, *options: str) -> subprocess.CompletedProcess[str]:
        command = [self.node_modules / ".bin" / name for name in ("node", "mcp-inspector")]
        command += ["--cli", self.server.url, "--transport", "http", *options]
        command += ["--header", f"Authorization: Token {self.server.shop.tokens['alice']}"]
        return subprocess.run(
            command,
            env={**os.environ, "HOME": str(self.home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def tools(self) -> list[str]:
        # It must find no error in the schemas.
        printed = self.run("--method", "tools/list", "--strict")
        assert printed.returncode == 0, printed.stderr
        return [tool["name"] for tool in json.loads(printed.stdout)["tools"]]

    def call(self, name: str, /, **arguments: Any) -> Answer:
        pairs = [f"{key}={json.dumps(value)}" for key, value in arguments.items()]
        options = [option for pair in pairs for option in ("--tool-arg", pair)]
        printed = self.run("--method", "tools/call", "--tool-name", name, *options)
        assert printed.returncode in {0, TOOL_IS_ERROR}, printed.stderr
        result = json.loads(printed.stdout)
        is_error = result.get("isError", False)
        assert is_error is (printed.returncode == TOOL_IS_ERROR)
        (block,) = result["content"]
        assert result["structuredContent"] == json.loads(block["text"])
        return is_error, result["structuredContent"]


NIGHTLY = pytest.param("fastmcp legacy", marks=pytest.mark.nightly)


@pytest.fixture(params=["fastmcp auto", NIGHTLY, "inspector"])
def client(request, uvicorn, tmp_path) -> FastMCP | Inspector:
    """A client with alice's token."""
    if request.param == "inspector":
        return Inspector(uvicorn, request.getfixturevalue("node_modules"), tmp_path)
    return FastMCP(uvicorn, mode=request.param.removeprefix("fastmcp "))


def test_client_lists_the_tools_of_the_user_and_follows_pages(client):
    names = client.tools()
    assert {"customers_list", "orders_create", "stats", "naive_retriever"} <= {*names}
    assert "customers_deactivate" not in names
    _, first = client.call("customers_list", page_size=7)
    _, second = client.call("customers_list", **first["meta"]["pagination"]["next"])
    pages = [{row["id"] for row in page["data"]["results"]} for page in (first, second)]
    assert [len(page) for page in pages] == [7, 7]
    assert not pages[0] & pages[1]
    assert second["meta"]["pagination"]["total_count"] == ALICES_CUSTOMERS


def test_client_learns_what_to_correct_and_creates_an_order(client):
    product = client.call("products_list", in_stock=True, limit=1)[1]["data"]["results"][0]["slug"]
    customer = client.call("customers_list", page_size=1)[1]["data"]["results"][0]["id"]
    line = {"product": product, "quantity": 0}
    is_error, refused = client.call("orders_create", customer=customer, lines=[line])
    details = refused["data"]["details"]
    assert is_error
    assert (details["field"], details["constraint"]) == ("lines[0].quantity", "min_value")
    line["quantity"] = 2
    is_error, created = client.call("orders_create", customer=customer, lines=[line])
    assert not is_error
    _, found = client.call("orders_retrieve", pk=created["data"]["id"])
    assert found["data"] == created["data"]
    assert found["data"]["lines"][0]["product"] == product
