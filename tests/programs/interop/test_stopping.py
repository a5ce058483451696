"""A server that is told to stop ends what waits for a client, and finishes what runs."""

from __future__ import annotations

import json
import signal
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx2
import pytest

from tests.programs.interop.counting_urls import STEPS
from tests.programs.interop.servers import RunningServer, Shop, running
from tests.services.machines import wait_until

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
LISTEN = ("subscriptions/listen", {"notifications": {"toolsListChanged": True}, "_meta": META})
COUNT = ("tools/call", {"name": "count_slowly", "_meta": {**META, "progressToken": 1}})
# Clients of the handshake revisions are asked in the response of their call.
HANDSHAKE = "2025-11-25"
ASK = ("tools/call", {"name": "give_reason", "arguments": {}})
OPEN = {
    "protocolVersion": HANDSHAKE,
    "capabilities": {"elicitation": {}},
    "clientInfo": {"name": "tests", "version": "1"},
}
# Servers give 30 s of grace, and a loaded machine is slow.
SECONDS_TO_END = 25


class Stream(threading.Thread):
    """Sends a message and reads its response; repeats that until the server is gone.

    Attributes:
        received: the messages, with their times.
    """

    def __init__(self, server: RunningServer, method: str, params: Any, **headers: str) -> None:
        super().__init__(daemon=True)
        self.url = server.url
        self.message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.headers = {
            **find_credential(server),
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": method,
            **({"Mcp-Name": params["name"]} if "name" in params else {}),
            **headers,
        }
        self.received: list[tuple[float, Any]] = []
        self.repeats = method == "subscriptions/listen"
        self.start()

    def run(self) -> None:
        with httpx2.Client(headers=self.headers, timeout=60) as client:
            while True:
                try:
                    with client.stream("POST", self.url, json=self.message) as response:
                        for line in response.iter_lines():
                            if line.startswith("data: "):
                                message = json.loads(line.removeprefix("data: "))
                                self.received.append((time.monotonic(), message))
                except httpx2.TransportError:
                    break
                if not self.repeats:
                    break

    def wait_for_first(self) -> None:
        wait_until(lambda: self.received)

    def find_results(self) -> list[tuple[float, Any]]:
        return [(at, each["result"]) for at, each in self.received if "result" in each]


def find_credential(server: RunningServer) -> dict[str, str]:
    token = f"Token {server.shop.tokens['alice']}"
    return {"Authorization": token, "Accept": "application/json, text/event-stream"}


def open_session(server: RunningServer) -> dict[str, str]:
    message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": OPEN}
    headers = find_credential(server)
    response = httpx2.post(server.url, json=message, headers=headers, timeout=60)
    session = {"Mcp-Session-Id": response.headers["Mcp-Session-Id"]}
    return {**session, "MCP-Protocol-Version": HANDSHAKE}


def read_audit(shop: Shop) -> Iterator[str]:
    """Yield the tools of the last two records."""
    with closing(sqlite3.connect(shop.database)) as connection:
        rows = connection.execute("SELECT tool FROM drf_mcp_audit_auditedcall ORDER BY id")
        yield from [tool for (tool,) in rows][-2:]


@pytest.fixture(scope="module")
def stopping_shop(tmp_path_factory) -> Shop:
    shop = Shop(tmp_path_factory.mktemp("stopping") / "shop.sqlite3")
    shop.seed()
    return Shop(shop.database, "tests.programs.interop.counting_settings")


@pytest.mark.parametrize("kind", ["threads", "asgi", "uvicorn", "processes"])
def test_streams_end_with_their_results(kind, stopping_shop, tmp_path, subtests):
    with running(kind, stopping_shop, tmp_path / "log") as server:
        asking = Stream(server, *ASK, **open_session(server))
        # WSGI has no subscriptions.
        listening = None if kind == "threads" else Stream(server, *LISTEN)
        for stream in filter(None, (asking, listening)):
            stream.wait_for_first()
        counting = Stream(server, *COUNT)
        counting.wait_for_first()
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(SECONDS_TO_END)
        for stream in filter(None, (asking, listening, counting)):
            stream.join(5)
    with subtests.test("a call that asked its user says so"):
        ((at, result),) = asking.find_results()
        # The call that runs takes two seconds more, on a machine without load.
        ((counted, _),) = counting.find_results()
        assert at < counted
        assert "The server was stopped" in result["structuredContent"]["error"]
    if listening is not None:
        with subtests.test("a subscription is complete"):
            ends = listening.find_results()
            assert {result["resultType"] for _, result in ends} == {"complete"}
            assert ends[0][0] < counted
            # A client that listens anew at once is not left without an end.
            acknowledged = [each for _, each in listening.received if "method" in each]
            assert len(acknowledged) == len(ends)
    with subtests.test("a call that runs gives its result"):
        ((_, result),) = counting.find_results()
        assert result["structuredContent"]["data"] == {"counted": STEPS}
    with subtests.test("the audit has the last calls"):
        assert list(read_audit(stopping_shop)) == ["give_reason", "count_slowly"]
