"""Valid messages of every revision, as clients send them, for mutation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_types import methods
from rest_framework.authtoken.models import Token

from tests.agents import REVISIONS, Agent
from tests.fuzz.planted import FAILURES, SENT
from tests.parity.shop_requests import REQUESTS, rows_of_alice

# All retrievers of the library take the same arguments, so one of them is enough.
SLOW = {request.tool for request in REQUESTS if "retriever" in request.tool} - {"bm25_retriever"}
CLIENT = {"name": "fuzz", "version": "1"}
PLANTED = [
    *({"how": how} for how in FAILURES),
    {"how": "none", "password": SENT, "api_key": SENT},
    {"how": "raise", "password": [SENT]},
]


@dataclass(frozen=True)
class Recording:
    """One HTTP request to the endpoint.

    Attributes:
        message: the JSON value of the body.
        headers: the headers, by their HTTP names.
        username: the user whose token is sent, None for none.
        method: the HTTP method.
        path: the path of the endpoint.
    """

    message: Any
    headers: Mapping[str, str] = field(default_factory=dict)
    username: str | None = "alice"
    method: str = "POST"
    path: str = "/mcp"

    @property
    def body(self) -> bytes:
        """The bytes of the message."""
        return json.dumps(self.message).encode()


class Recorder:
    """Makes the recordings, and validates them with the official types.

    Attributes:
        tokens: the token of each user.
    """

    def __init__(self) -> None:
        self.tokens = dict(Token.objects.values_list("user__username", "key"))

    def record(self) -> list[Recording]:
        """Return the recordings, single messages first."""
        singles = [
            self.frame(revision, method, params, path)
            for revision in REVISIONS
            for method, params, path in self.get_requests(revision)
        ]
        return [*singles, *self.get_further()]

    def get_requests(self, revision: str) -> Iterator[tuple[str, dict[str, Any], str]]:
        if revision == REVISIONS[0]:
            yield "server/discover", {}, "/mcp"
        else:
            handshake = {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT}
            yield "initialize", handshake, "/mcp"
            yield "ping", {}, "/mcp"
        yield "tools/list", {}, "/library/mcp"
        rows = rows_of_alice()
        for asked in (request.about(rows) for request in REQUESTS if request.tool not in SLOW):
            path = "/library/mcp" if "/library/" in asked.path else "/mcp"
            yield "tools/call", {"name": asked.tool, "arguments": asked.arguments}, path
        for arguments in PLANTED:
            yield "tools/call", {"name": "planted_failure", "arguments": arguments}, "/mcp"
        yield "tools/call", {"name": "content_retrieve", "arguments": {"id": "0" * 32}}, "/mcp"

    def frame(self, revision: str, method: str, params: dict[str, Any], path: str) -> Recording:
        message, headers = Agent(None, revision).frame(method, params)
        methods.validate_client_request(method, revision, message["params"])
        return self.sign(Recording(message, headers, path=path))

    def sign(self, recording: Recording) -> Recording:
        token = self.tokens[recording.username]
        headers = {**recording.headers, "Authorization": f"Token {token}"}
        return Recording(recording.message, headers, recording.username, path=recording.path)

    def get_further(self) -> Iterator[Recording]:
        # Notifications and responses, which get no answer, and a GET of the page.
        for revision in REVISIONS:
            headers = {"MCP-Protocol-Version": revision}
            ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            yield self.sign(Recording(ready, headers))
            yield self.sign(Recording({"jsonrpc": "2.0", "id": 1, "result": {}}, headers))
        for method in ("GET", "HEAD", "OPTIONS", "PUT", "DELETE"):
            yield Recording(None, {"Accept": "text/html"}, None, method)
