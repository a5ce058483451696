"""Requests that run through Django's whole stack, as from a WSGI server."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.db import transaction
from django.test import override_settings
from django.utils.http import urlencode

REVISION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
ENVIRONMENT = {
    "SCRIPT_NAME": "",
    "SERVER_NAME": "localhost",
    "SERVER_PORT": "80",
    "SERVER_PROTOCOL": "HTTP/1.1",
    "REMOTE_ADDR": "127.0.0.1",
    "HTTP_HOST": "localhost",
    "HTTP_ACCEPT": "application/json, text/event-stream",
    "wsgi.url_scheme": "http",
}


@dataclass(frozen=True)
class Request:
    """A request that can be sent repeatedly.

    Attributes:
        method: the HTTP method.
        path: the path.
        query: the query parameters.
        body: the body, any JSON value; None for no body.
        headers: additional headers, with their WSGI names.
        settings: settings of the project while the request is sent.
    """

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def environment(self) -> dict[str, Any]:
        """Return a new WSGI environment."""
        content = b"" if self.body is None else json.dumps(self.body).encode()
        return {
            **ENVIRONMENT,
            "REQUEST_METHOD": self.method,
            "PATH_INFO": self.path,
            "QUERY_STRING": urlencode(self.query),
            "CONTENT_TYPE": "application/json" if content else "",
            "CONTENT_LENGTH": str(len(content)),
            "wsgi.input": io.BytesIO(content),
            **self.headers,
        }


@dataclass(frozen=True)
class Client:
    """Makes the requests of one user; a stranger has no token."""

    token: str
    scheme: str = "Token"
    revision: str = REVISION

    @classmethod
    def of(cls, username: str, *options: str) -> Client:
        """Return the client of a user of the example project."""
        from rest_framework.authtoken.models import Token

        return cls(Token.objects.get(user__username=username).key, *options)

    @property
    def headers(self) -> dict[str, str]:
        return {"HTTP_AUTHORIZATION": f"{self.scheme} {self.token}"} if self.token else {}

    def plain(self, method: str, path: str, **options: Any) -> Request:
        """Return a plain HTTP request."""
        return Request(method, path, headers=self.headers, **options)

    def message(self, method: str, params: Mapping[str, Any], **options: Any) -> Request:
        """Return a request with an MCP message."""
        headers = {
            **self.headers,
            "HTTP_MCP_PROTOCOL_VERSION": self.revision,
            "HTTP_MCP_METHOD": method,
            **({"HTTP_MCP_NAME": params["name"]} if "name" in params else {}),
        }
        meta = {"_meta": META} if self.revision == REVISION else {}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, **meta}}
        return Request("POST", "/mcp", body=body, headers=headers, **options)

    def call(self, tool: str, arguments: Mapping[str, Any], **options: Any) -> Request:
        """Return a call of a tool."""
        return self.message("tools/call", {"name": tool, "arguments": arguments}, **options)

    def listing(self, **options: Any) -> Request:
        """Return a request for the list of tools."""
        return self.message("tools/list", {}, **options)


class Server:
    """The project of this process behind its WSGI handler."""

    def __init__(self) -> None:
        self.handler = WSGIHandler()

    def answer(self, environment: dict[str, Any]) -> tuple[int, bytes]:
        """Return the status and the body of an answer."""
        response = self.handler(environment, lambda status, headers: None)
        content = b"".join(response)
        response.close()
        return response.status_code, content

    def measured(self, request: Request, measure: Callable[[Callable[[], Any]], Any]) -> Any:
        """Send a request inside a measurement, and roll back its writes.

        Args:
            request: the request.
            measure: gets the function that sends the request, and returns the result.
        """
        with transaction.atomic():
            environment = request.environment()
            found = measure(lambda: self.answer(environment))
            transaction.set_rollback(True)
        return found

    def send(self, request: Request) -> tuple[int, bytes]:
        """Send a request and return the status and the body of the answer."""
        with override_settings(**request.settings):
            return self.measured(request, lambda answer: answer())
