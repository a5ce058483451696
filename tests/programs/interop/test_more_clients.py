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

from tests.programs.interop.python_sdk import connected
from tests.programs.interop.servers import RunningServer

ALICES_CUSTOMERS = 30
# The exit status of the Inspector after a result that is an error.
TOOL_IS_ERROR = 5


@dataclass(frozen=True)
class Answer:
    """The answer of a client to a call.

    Attributes:
        is_error: whether the client says that the tool failed.
        envelope: the envelope, which is the same in both channels.
    """

    is_error: bool
    envelope: dict[str, Any]


@dataclass(frozen=True)
class FastMCP:
    """FastMCP's client with alice's token.

    Attributes:
        server: the server.
        mode: how the revision is chosen: ``\"auto\"`` by discovery, ``\"legacy\"`` by handshake.
    """

    server: RunningServer
    mode: str

    def tools(self) -> list[dict[str, Any]]:
        """List the tools as they were sent."""

        async def ask() -> list[dict[str, Any]]:
            async with self.connect() as client:
                return [plain(tool) for tool in await client.list_tools()]

        return anyio.run(ask)

    def call(self, name: str, /, **arguments: Any) -> Answer:
        """Call a tool; the result must fit the types made of the tool's outputSchema."""

        async def ask() -> Answer:
            async with self.connect() as client:
                result = await client.call_tool(name, arguments, raise_on_error=False)
            # FastMCP does not raise if a result does not fit: it leaves out the data.
            assert result.is_error or result.data.success is True
            (block,) = result.content
            assert result.structured_content == json.loads(block.text)
            return Answer(result.is_error, result.structured_content)

        return anyio.run(ask)

    def connect(self) -> Client:
        """Return a client for one connection."""
        headers = {"Authorization": f"Token {self.server.shop.tokens['alice']}"}
        return Client(StreamableHttpTransport(self.server.url, headers=headers), mode=self.mode)


@dataclass(frozen=True)
class Inspector:
    """The Inspector's command line with alice's token.

    Attributes:
        server: the server.
        node_modules: the folder in which it is installed.
        home: the folder for its state.
    """

    server: RunningServer
    node_modules: Path
    home: Path

    def tools(self) -> list[dict[str, Any]]:
        """List the tools as they were sent; the Inspector must find no error in their schemas."""
        printed = self.run("--method", "tools/list", "--strict")
        assert printed.returncode == 0, printed.stderr
        return json.loads(printed.stdout)["tools"]

    def call(self, name: str, /, **arguments: Any) -> Answer:
        """Call a tool with arguments written as pairs."""
        pairs = [f"{key}={json.dumps(value)}" for key, value in arguments.items()]
        options = [option for pair in pairs for option in ("--tool-arg", pair)]
        printed = self.run("--method", "tools/call", "--tool-name", name, *options)
        assert printed.returncode in {0, TOOL_IS_ERROR}, printed.stderr
        result = json.loads(printed.stdout)
        assert result.get("isError", False) is (printed.returncode == TOOL_IS_ERROR)
        (block,) = result["content"]
        assert result["structuredContent"] == json.loads(block["text"])
        return Answer(result.get("isError", False), result["structuredContent"])

    def run(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Run the command line once."""
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


@pytest.fixture(params=["fastmcp auto", "fastmcp legacy", "inspector"])
def client(request, uvicorn, tmp_path) -> FastMCP | Inspector:
    """A client with alice's token."""
    if request.param == "inspector":
        return Inspector(uvicorn, request.getfixturevalue("node_modules"), tmp_path)
    return FastMCP(uvicorn, mode=request.param.removeprefix("fastmcp "))


def plain(tool: Any) -> dict[str, Any]:
    """Return a tool of the Python SDK's types as it was sent."""
    return tool.model_dump(mode="json", by_alias=True, exclude_unset=True)


def listed_by_the_sdk(server: RunningServer) -> list[dict[str, Any]]:
    """List alice's tools with the official Python client."""

    async def ask() -> list[dict[str, Any]]:
        async with connected(server, server.shop.tokens["alice"]) as connection:
            return [plain(tool) for tool in (await connection.client.list_tools()).tools]

    return anyio.run(ask)


def customer_of(client) -> int:
    """Return the primary key of a customer that alice sees."""
    return client.call("customers_list", page_size=1).envelope["data"]["results"][0]["id"]


def product_in_stock(client) -> str:
    """Return the slug of a product that can be ordered."""
    listed = client.call("products_list", in_stock=True, limit=1)
    return listed.envelope["data"]["results"][0]["slug"]


def test_client_lists_every_tool_of_the_user(client, uvicorn):
    tools = client.tools()
    names = {tool["name"] for tool in tools}
    assert {"customers_list", "orders_create", "stats", "naive_retriever"} <= names
    assert "customers_deactivate" not in names
    assert tools == listed_by_the_sdk(uvicorn)


def test_client_gets_an_output_schema_for_every_tool(client):
    """Except for the tools of proposals, whose answers are those of the proposed tools."""
    undeclared = [tool["name"] for tool in client.tools() if "outputSchema" not in tool]
    assert undeclared == ["proposals_retrieve", "proposals_withdraw"]


def test_client_reads_one_row(client):
    customer = customer_of(client)
    answer = client.call("customers_retrieve", pk=customer)
    assert not answer.is_error
    assert answer.envelope["data"]["id"] == customer


def test_client_follows_next_to_the_next_page(client):
    first = client.call("customers_list", page_size=7)
    second = client.call("customers_list", **first.envelope["meta"]["pagination"]["next"])
    pages = [
        {row["id"] for row in answer.envelope["data"]["results"]} for answer in (first, second)
    ]
    assert [len(page) for page in pages] == [7, 7]
    assert not pages[0] & pages[1]
    assert second.envelope["meta"]["pagination"]["total_count"] == ALICES_CUSTOMERS


def test_client_learns_what_to_correct(client):
    line = {"product": product_in_stock(client), "quantity": 0}
    answer = client.call("orders_create", customer=customer_of(client), lines=[line])
    assert answer.is_error
    assert answer.envelope["data"]["error_code"] == "VALIDATION_ERROR"
    details = answer.envelope["data"]["details"]
    assert (details["field"], details["constraint"]) == ("lines[0].quantity", "min_value")


def test_client_creates_an_order(client):
    line = {"product": product_in_stock(client), "quantity": 2}
    created = client.call("orders_create", customer=customer_of(client), lines=[line])
    assert not created.is_error
    found = client.call("orders_retrieve", pk=created.envelope["data"]["id"])
    assert found.envelope["data"] == created.envelope["data"]
    assert found.envelope["data"]["lines"][0]["product"] == line["product"]
