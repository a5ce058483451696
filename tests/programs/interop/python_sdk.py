"""The official Python SDK's client, connected to a running server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import mcp.client.session
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from tests.agents import STATELESS
from tests.oracles.contract import is_response_v2, judge_response_v2
from tests.programs.interop.servers import RunningServer

SECONDS_TO_ANSWER = 30


@dataclass(frozen=True)
class Connection:
    """A connected client.

    Attributes:
        client: the client.
    """

    client: Client

    async def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed, and return the envelope."""
        result = await self.client.call_tool(name, arguments)
        assert not result.is_error, result
        return envelope(result)

    async def refusal(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must fail, and return the data of the envelope."""
        result = await self.client.call_tool(name, arguments)
        assert result.is_error, result
        return envelope(result)["data"]


def envelope(result: CallToolResult) -> dict[str, Any]:
    """Return the envelope of a result, which both channels must have if there are two."""
    (block,) = result.content
    body = json.loads(block.text)
    assert result.structured_content in (None, body)
    if is_response_v2(body):
        judge_response_v2(body)
    return body


@asynccontextmanager
async def connected(
    server: RunningServer,
    token: str,
    revision: str = STATELESS,
    responses: list[httpx2.Response] | None = None,
    **options: Any,
) -> AsyncIterator[Connection]:
    """Connect with a revision: the stateless one by discovery, the others by handshake.

    Args:
        server: the server.
        token: the token of the user.
        revision: the revision.
        responses: a list that gets every HTTP response.
        options: further options of the SDK's client.
    """

    async def record(response: httpx2.Response) -> None:
        if responses is not None:
            responses.append(response)

    http_client = httpx2.AsyncClient(
        headers={"Authorization": f"Token {token}"},
        timeout=SECONDS_TO_ANSWER,
        event_hooks={"response": [record]},
    )
    transport = streamable_http_client(server.url, http_client=http_client)
    mode = "auto" if revision == STATELESS else "legacy"
    with pytest.MonkeyPatch.context() as patch:
        if mode == "legacy":
            # The SDK offers its newest revision and has no option for another one.
            patch.setattr(mcp.client.session, "LATEST_HANDSHAKE_VERSION", revision)
        async with http_client, Client(transport, mode=mode, **options) as client:
            yield Connection(client)
