"""The plain HTTP request of a tool call, for tests of parity and for ``mcp_call --http``."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.urls import get_script_prefix

from drf_mcp.routes.tool import Tool

# What `django.urls.reverse` leaves as it is in a path.
SAFE = "!$&'()*+,;=/~:@"


@dataclass(frozen=True)
class EquivalentRequest:
    """The plain HTTP request of a tool call; ``path`` is encoded and has the query."""

    method: str
    path: str
    body: bytes
    content_type: str
    disposition: str

    @classmethod
    def of_call(cls, tool: Tool, arguments: Any) -> EquivalentRequest | None:
        """Return the request of a tool call.

        None if no path can be written for the arguments, or if the tool has no HTTP request.
        A call about several objects makes several requests; this is the first.
        """
        call = tool.bind(arguments).requests[0]
        if not tool.endpoint.has_http_request:
            return None
        path = tool.endpoint.route.build(call.kwargs)
        if path is None:
            return None
        query = f"?{call.query_string}" if call.query_string else ""
        path = get_script_prefix().rstrip("/") + quote(path, safe=SAFE) + query
        body = bytes(call.body)
        return cls(tool.endpoint.method, path, body, call.content_type, call.disposition)

    def to_curl(self, origin: str, authorization: str = "", username: str = "") -> str:
        """Return the curl command that sends the request to an origin, such as ``http://x:80``.

        With a username, curl asks for the password and sends both by Basic authentication.
        """
        parts = ["curl"]
        if self.method != "GET":
            parts.append(f"-X {self.method}")
        parts.append(shlex.quote(origin.rstrip("/") + self.path))
        if username:
            parts.append(f"-u {shlex.quote(username)}")
        if authorization:
            # Between double quotes the shell fills in variables, such as $MCP_TOKEN.
            parts.append(f'-H "Authorization: {authorization}"')
        if self.body:
            headers = [f"Content-Type: {self.content_type}"]
            headers += [f"Content-Disposition: {self.disposition}"] if self.disposition else []
            parts += [f"-H {shlex.quote(header)}" for header in headers]
            parts.append(f"--data-binary {shlex.quote(self.body.decode(errors='replace'))}")
        return " ".join(parts)
