"""The ASGI application in this process: send a request, read the events of its response."""

from __future__ import annotations

import json
from typing import Any

from asgiref.testing import ApplicationCommunicator
from django.core.asgi import get_asgi_application
from django.test import Client
from mcp_types import methods

from tests.agents import Agent

BOTH = "application/json, text/event-stream"


def frame(
    method: str, *, token: Any = "p1", accept: str = BOTH, **params: Any
) -> tuple[bytes, dict[str, str]]:
    """Return the body and the headers of a request with a progress token."""
    meta = {} if token is None else {"progressToken": token}
    message, headers = Agent(Client()).frame(method, {**params, "_meta": meta})
    return json.dumps(message).encode(), {**headers, "Accept": accept}


def read_events(content: bytes) -> list[dict[str, Any]]:
    """Return the messages of a stream, after validating notifications with the official types."""
    messages = []
    for event in content.decode().split("\n\n"):
        if not event.strip(":\n"):
            continue
        kind, data = event.split("\n")
        assert kind == "event: message"
        messages.append(json.loads(data.removeprefix("data: ")))
    for message in messages:
        # The official types do not include extensions.
        if "method" in message and message["method"] != "notifications/tasks":
            kind = methods.SERVER_NOTIFICATIONS[message["method"], "2026-07-28"]
            kind.model_validate(message)
    return messages


def communicate(body: bytes, headers: dict[str, str], cookie: str = "") -> ApplicationCommunicator:
    """Return a connection over which `begin` sends a request."""
    named = {"host": "testserver", "content-type": "application/json", **headers}
    named |= {"cookie": cookie} if cookie else {}
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "query_string": b"",
        "headers": [(k.lower().encode(), v.encode()) for k, v in named.items()],
        "server": ("testserver", 80),
        "scheme": "http",
    }
    connection = ApplicationCommunicator(get_asgi_application(), scope)
    connection.body = body  # type: ignore[attr-defined]
    return connection


async def begin(connection: Any) -> dict[str, Any]:
    """Send the request and return the start of the response."""
    await connection.send_input({"type": "http.request", "body": connection.body})
    return await connection.receive_output(5)


async def receive_all(connection: Any) -> bytes:
    """Return the rest of the body."""
    content, more = b"", True
    while more:
        part = await connection.receive_output(5)
        content += part.get("body", b"")
        more = part.get("more_body", False)
    return content
