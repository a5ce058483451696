"""A client of the handshake revisions that answers forms in the response of its call."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.test import Client, RequestFactory
from mcp_types import methods

from tests.agents import Agent
from tests.asgi import BOTH

FORMS = {"elicitation": {"form": {}}}
PAGES = {"elicitation": {"form": {}, "url": {}}}
Answering = Callable[[Mapping[str, Any]], Any]


class Host:
    """A client of a revision before 2026-07-28.

    Attributes:
        asked: the params of the questions that the server sent.
        session: the header with the id of the session, empty where none was given.

    Args:
        capabilities: what the client declares.
        revision: the revision of the protocol.
        headers: further headers of each request, such as a credential.
        opens: whether the client sends ``initialize`` at once.
        at: the path of the endpoint.
    """

    def __init__(
        self,
        capabilities: Any = None,
        revision: str = "2025-11-25",
        headers: Mapping[str, str] | None = None,
        *,
        opens: bool = True,
        at: str = "/mcp",
    ) -> None:
        # A server with threads sets wsgi.multithread.
        self.agent = Agent(Client(headers=headers, **{"wsgi.multithread": True}), revision, at)
        self.headers = dict(headers or {})
        self.asked: list[Mapping[str, Any]] = []
        self.session: dict[str, str] = {}
        if opens:
            self.shake_hands(FORMS if capabilities is None else capabilities)

    def shake_hands(self, capabilities: Any) -> None:
        params = {
            "protocolVersion": self.agent.revision,
            "capabilities": capabilities,
            "clientInfo": {"name": "tests", "version": "1"},
        }
        response = self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        assert response.status_code == 200, response.content
        if session := response.get("Mcp-Session-Id"):
            self.session = {"Mcp-Session-Id": session}

    def post(self, message: Mapping[str, Any]) -> Any:
        """Send any message but a call, and return the HTTP response."""
        version = {"MCP-Protocol-Version": self.agent.revision}
        return self.agent.post(message, {**version, **self.headers, **self.session})

    def answer(self, question_id: Any, result: Any) -> int:
        """Send the answer to a question and return the HTTP status."""
        return self.post({"jsonrpc": "2.0", "id": question_id, "result": result}).status_code

    def begin(
        self, name: str, arguments: Any, id: Any = 7, *, has_threads: bool = True, **meta: Any
    ) -> Call:
        """Begin a ``tools/call`` under a WSGI server with threads or without."""
        params = {"name": name, "arguments": arguments, **({"_meta": meta} if meta else {})}
        message, headers = self.agent.frame("tools/call", params)
        headers |= {**self.headers, **self.session}
        return Call({**message, "id": id}, headers, has_threads=has_threads)

    def call(self, name: str, arguments: Any, answering: Answering) -> dict[str, Any]:
        """Call a tool, answer each question, and return the JSON-RPC response.

        Args:
            answering: takes the params of a question, and returns the result that the client
                sends; an exception is sent as an error, None is not sent.
        """
        last: dict[str, Any] = {}
        for last in self.begin(name, arguments):
            if last.get("method") == "elicitation/create":
                validate(last, self.agent.revision)
                self.asked.append(last["params"])
                self.reply(last["id"], answering(last["params"]))
        return last

    def reply(self, question_id: Any, answer: Any) -> None:
        if isinstance(answer, Exception):
            error = {"code": -32601, "message": str(answer)}
            self.post({"jsonrpc": "2.0", "id": question_id, "error": error})
        elif answer is not None:
            assert self.answer(question_id, answer) == 202


def validate(request: Mapping[str, Any], revision: str) -> None:
    """Validate a question with the official types of the revision."""
    kind = methods.SERVER_REQUESTS["elicitation/create", revision]
    kind.model_validate(request)


class Call:
    """One request under a WSGI server; iterating yields the messages of the response."""

    def __init__(
        self, message: Mapping[str, Any], headers: Mapping[str, str], *, has_threads: bool = True
    ) -> None:
        body = json.dumps(message)
        headers = {**headers, "Accept": BOTH}
        request = RequestFactory().post(
            "/mcp", body, "application/json", headers=headers, **{"wsgi.multithread": has_threads}
        )
        self.status, self.headers = "", {}
        self.response = WSGIHandler()(request.environ, self.start)

    def start(self, status: str, headers: list[tuple[str, str]]) -> None:
        self.status, self.headers = status, dict(headers)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        is_stream = self.headers["Content-Type"] == "text/event-stream"
        for part in self.response:
            for line in part.decode().splitlines():
                if not is_stream or line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))
        self.response.close()

    def hang_up(self) -> None:
        """Close the response, as a server does when its client is gone."""
        self.response.close()


def accept(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}
