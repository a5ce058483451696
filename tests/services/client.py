"""A client of one site, and the kinds of its answers."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2

from tests.agents import STATELESS, Agent
from tests.oracles.contract import judge_response_v2
from tests.services.machines import wait_until

TASKS = "io.modelcontextprotocol/tasks"
# The timeout of the workers.
SECONDS = 60
# Codes of correct errors while a service is unavailable.
FAULTS = frozenset({"INTERNAL_ERROR", "UNAVAILABLE"})
INTERNAL_ERROR = -32603


class WrongAnswer(AssertionError):
    """An answer that is neither correct nor a correct error."""


class ReportedFailure(Exception):
    """The call failed, and its client was informed.

    Args:
        code: the error code, or the state of the connection.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass
class Client:
    """Calls tools at a site, over a persistent connection.

    Attributes:
        url: the URL of the site.
        token: the token of a user or of an agent.
    """

    url: str
    token: str
    scheme: str = "Token"
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    framing: Agent = field(default_factory=lambda: Agent(None))  # type: ignore[arg-type]
    listeners: list[Listener] = field(default_factory=list)

    def __post_init__(self) -> None:
        # Created here and not at the first call, because two threads would create two.
        headers = {"Authorization": f"{self.scheme} {self.token}"}
        self.http = httpx2.Client(base_url=self.url, headers=headers, timeout=SECONDS)

    def close(self) -> None:
        # A stream that stays open counts against the next test.
        for listener in self.listeners:
            listener.close()
        self.http.close()

    def frame(self, method: str, params: Mapping[str, Any]) -> tuple[bytes, dict[str, str]]:
        meta = {"io.modelcontextprotocol/clientCapabilities": self.capabilities}
        message, headers = self.framing.frame(method, {**params, "_meta": meta})
        headers |= {"Content-Type": "application/json", "MCP-Protocol-Version": STATELESS}
        return json.dumps(message).encode(), headers

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a message and return its result.

        Raises:
            ReportedFailure: if there is no answer, or the server reports its own failure.
            WrongAnswer: if the answer is no valid message.
        """
        body, headers = self.frame(method, params)
        try:
            response = self.http.post("/mcp", content=body, headers=headers)
        except httpx2.TimeoutException as exc:
            raise WrongAnswer(f"No answer in {SECONDS} s") from exc
        except httpx2.TransportError as exc:
            raise ReportedFailure("connection lost") from exc
        try:
            answer = response.json()
        except ValueError as exc:
            raise WrongAnswer(f"{response.status_code} {response.text[:200]}") from exc
        if "result" in answer:
            return answer["result"]
        if answer.get("error", {}).get("code") == INTERNAL_ERROR:
            assert response.status_code == 500, response.status_code
            raise ReportedFailure(str(INTERNAL_ERROR))
        raise WrongAnswer(f"{response.status_code} {answer}")

    def envelope(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return the envelope of its result, also of a failure.

        Raises:
            ReportedFailure: if the server reports its own failure.
        """
        result = self.request("tools/call", name=name, arguments=arguments)
        envelope = result["structuredContent"]
        judge_response_v2(envelope)
        if result.get("isError") and envelope["data"]["error_code"] in FAULTS:
            raise ReportedFailure(envelope["data"]["error_code"])
        return envelope

    def call(self, name: str, /, **arguments: Any) -> Any:
        """Call a tool that succeeds, and return the data of its envelope."""
        envelope = self.envelope(name, **arguments)
        if not envelope["success"]:
            raise WrongAnswer(str(envelope))
        return envelope["data"]


class Listener(threading.Thread):
    """Keeps a subscription open until its client is closed.

    Attributes:
        received: the received messages.
        answer: the last line of the response.
    """

    answer = ""

    def __init__(self, client: Client, **wanted: Any) -> None:
        super().__init__(daemon=True)
        self.client = client
        self.wanted = wanted
        self.received: list[dict[str, Any]] = []
        self.socket: Any = None
        client.listeners.append(self)
        self.start()
        wait_until(lambda: self.received or not self.is_alive())
        assert self.received, self.answer

    def run(self) -> None:
        body, headers = self.client.frame("subscriptions/listen", {"notifications": self.wanted})
        headers["Accept"] = "application/json, text/event-stream"
        posted = {"content": body, "headers": headers}
        # The main thread has closed the socket.
        with (
            contextlib.suppress(httpx2.HTTPError, httpx2.StreamError, OSError),
            self.client.http.stream("POST", "/mcp", **posted) as response,
        ):
            self.socket = response.extensions["network_stream"].get_extra_info("socket")
            for line in response.iter_lines():
                self.answer = line or self.answer
                if line.startswith("data: "):
                    self.received.append(json.loads(line.removeprefix("data: ")))

    def close(self) -> None:
        """End the stream at once: closing the client would wait for the next keep-alive."""
        # A refused listener has ended already.
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.join()

    def count(self, method: str) -> int:
        """Return the number of notifications with a method."""
        return sum(1 for message in self.received if message.get("method") == method)
