"""The plain HTTP request that a tool call stands for."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.urls import get_script_prefix

from drf_mcp.tools import Tool

# What `django.urls.reverse` leaves as it is in a path.
SAFE = "!$&'()*+,;=/~:@"


@dataclass(frozen=True)
class EquivalentRequest:
    """One HTTP request.

    Attributes:
        method: the HTTP method.
        path: the encoded path with the query.
        body: the encoded body, empty for none.
        content_type: the body's media type, "" for none.
        disposition: the body's Content-Disposition, "" for none.
    """

    method: str
    path: str
    body: bytes = b""
    content_type: str = ""
    disposition: str = ""

    def curl(self, origin: str, authorization: str | None = None) -> str:
        """Return the command line that sends it.

        Args:
            origin: scheme and host, such as ``http://127.0.0.1:8000``.
            authorization: the Authorization header, put between double quotes so that
                the shell fills in variables; None for none.
        """
        parts = ["curl"]
        if self.method != "GET":
            parts.append(f"-X {self.method}")
        parts.append(shlex.quote(origin.rstrip("/") + self.path))
        if authorization is not None:
            parts.append(f'-H "Authorization: {authorization}"')
        if self.body:
            parts += [f"-H {shlex.quote(header)}" for header in self.body_headers()]
            parts.append(f"--data-binary {shlex.quote(self.body.decode(errors='replace'))}")
        return " ".join(parts)

    def body_headers(self) -> Iterator[str]:
        """Yield the header lines that speak of the body."""
        yield f"Content-Type: {self.content_type}"
        if self.disposition:
            yield f"Content-Disposition: {self.disposition}"


def equivalent_request(tool: Tool, arguments: Any) -> EquivalentRequest | None:
    """Return the request of a tool call, None if no path can be written for its arguments.

    Args:
        tool: the tool.
        arguments: its arguments, any JSON value.

    Raises:
        ArgumentsRefused: if the arguments have no place in the request.
    """
    call = tool.bind(arguments)
    path = tool.endpoint.route.build(call.kwargs)
    if path is None:
        return None
    query = f"?{call.query_string}" if call.query_string else ""
    quoted = get_script_prefix().rstrip("/") + quote(path, safe=SAFE)
    return EquivalentRequest(
        tool.endpoint.method, quoted + query, call.body, call.content_type, call.disposition
    )
