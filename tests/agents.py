"""A client for the endpoint that validates its requests with the official ``mcp-types``.

`tests.oracles` checks the responses, like every other message of a test. This client adds a check
for the tools of most tests: their input schemas keep to the portable contract.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.test import Client
from mcp_types import methods
from rest_framework.authtoken.models import Token

from drf_mcp.json_text import JSONPointer
from drf_mcp.protocol.eras import encode_header
from tests.introspection.portability import assert_portable_arguments

REVISIONS = ("2026-07-28", "2025-11-25", "2025-06-18")
STATELESS = "2026-07-28"


@dataclass(frozen=True)
class Result:
    """A tool result, read the way a client reads it."""

    raw: dict[str, Any]

    @property
    def is_error(self) -> bool:
        """Whether the tool reported a failure."""
        return self.raw.get("isError", False)

    @property
    def envelope(self) -> dict[str, Any]:
        """The envelope, from the text block."""
        return json.loads(self.raw["content"][0]["text"])

    @property
    def data(self) -> Any:
        """The envelope's data."""
        return self.envelope["data"]

    @property
    def code(self) -> str:
        """The error code."""
        return self.data["error_code"]

    @property
    def problems(self) -> list[dict[str, Any]]:
        """The problems of a refusal: several, or the one that the details describe."""
        details = self.data.get("details", {})
        others = details.get("problems", [])
        if "constraint" not in details:
            return others
        field = details.get("field", "")
        pointer = details.get("pointer", JSONPointer.from_dotted(field))
        message = self.envelope["error"].removeprefix(f"{field}: ")
        return [
            {
                "pointer": pointer,
                "code": details["constraint"],
                "message": re.sub(r" \(\d+ more problems?\)$", "", message),
                **{name: details[name] for name in ("received", "accepted") if name in details},
                "remediation": self.data["remediation"],
            },
            *others,
        ]


class Agent:
    """Speaks to ``/mcp`` over a Django test client."""

    def __init__(self, http: Client, revision: str = STATELESS, path: str = "/mcp") -> None:
        self.http = http
        self.revision = revision
        self.path = path

    def post(self, body: Any, headers: Mapping[str, str] | None = None) -> Any:
        """Send bytes or a JSON value, and return the HTTP response."""
        content = body if isinstance(body, bytes) else json.dumps(body)
        # Django's client sets no content type where there is no content.
        headers = {"Content-Type": "application/json", **(headers or {})}
        kind = headers["Content-Type"]
        return self.http.post(self.path, content, content_type=kind, headers=headers)

    def frame(
        self, method: str, params: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return a request message and its headers in the agent's revision."""
        headers = {"MCP-Protocol-Version": self.revision}
        params = dict(params)
        if self.revision == STATELESS:
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": self.revision,
                "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
                **params.get("_meta", {}),
            }
            headers["Mcp-Method"] = method
            if isinstance(params.get("name"), str):
                headers["Mcp-Name"] = params["name"]
            elif isinstance(params.get("taskId"), str):
                headers["Mcp-Name"] = params["taskId"]
            elif isinstance(params.get("uri"), str):
                headers["Mcp-Name"] = encode_header(params["uri"])
        return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}, headers

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a validated request, and return the JSON-RPC response."""
        message, headers = self.frame(method, params)
        if not method.startswith("tasks/"):
            # The official types do not include extensions.
            methods.validate_client_request(method, self.revision, message["params"])
        return self.read(method, self.post(message, headers))

    def read(self, method: str, response: Any) -> dict[str, Any]:
        """Return a JSON-RPC response."""
        answer: dict[str, Any] = json.loads(response.content)
        return answer

    def result(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request that must succeed and return its result."""
        answer = self.request(method, **params)
        assert "result" in answer, answer
        return answer["result"]

    def error(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request that must fail and return its error."""
        answer = self.request(method, **params)
        assert "error" in answer, answer
        return answer["error"]

    def tools(self) -> dict[str, dict[str, Any]]:
        """Return the definitions of ``tools/list`` by name, after a check of their schemas."""
        tools, cursor = [], {}
        while True:
            result = self.result("tools/list", **cursor)
            tools += result["tools"]
            if "nextCursor" not in result:
                break
            cursor = {"cursor": result["nextCursor"]}
        for tool in tools:
            assert_portable_arguments(tool["inputSchema"])
        return {tool["name"]: tool for tool in tools}

    def call(self, name: str, /, **arguments: Any) -> Result:
        """Call a tool and return its result."""
        return self.call_with(name, arguments)

    def call_with(self, name: str, arguments: Any) -> Result:
        """Call a tool with arguments of any JSON type."""
        return Result(self.result("tools/call", name=name, arguments=arguments))


def make_agent(username: str | None, **options: Any) -> Agent:
    """Return an agent with the token of a user, without one for None: ``make_agent("alice")``."""
    headers = {}
    if username is not None:
        token = Token.objects.get(user__username=username)
        headers = {"authorization": f"Token {token.key}"}
    return Agent(Client(headers=headers), **options)
