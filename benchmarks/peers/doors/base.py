"""The interface of an endpoint: it answers MCP messages in this process."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

from django.core.handlers.wsgi import WSGIHandler

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


class Door:
    """An endpoint of the project, through its WSGI handler; without a package, the API alone.

    Attributes:
        version: the version of the package.
        tools: the name of the tool for each operation.
        lacks: why a tool does not do its operation, by operation.
        revision: the protocol revision of the messages.
    """

    version = ""
    tools: Mapping[str, str] = {
        "retrieve": "customers_retrieve",
        "page": "customers_list",
        "create": "customers_create",
        "destroy": "tickets_destroy",
    }
    lacks: Mapping[str, str] = {}
    revision = REVISION

    def __init__(self) -> None:
        self.handler = WSGIHandler()

    @classmethod
    def make_urlpatterns(cls) -> list[Any]:
        return []

    def keeps_api(self) -> bool:
        """Return whether a class still answers over HTTP after a tool was made of it."""
        return True

    def write_arguments(self, operation: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments of an operation as the package's tool expects them."""
        return arguments

    def write(
        self, token: str | None, method: str, params: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the WSGI environment of a message."""
        params = dict(params or {})
        names = {"HTTP_MCP_NAME": params["name"]} if "name" in params else {}
        if self.revision == REVISION:
            params["_meta"] = META
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        environment = make_environment(token, "POST", "/mcp", body)
        return {
            **environment,
            "HTTP_MCP_PROTOCOL_VERSION": self.revision,
            "HTTP_MCP_METHOD": method,
            **names,
        }

    def answer_plain(self, environment: dict[str, Any]) -> tuple[int, bytes]:
        """Return the status and the body of the project's own answer."""
        response = self.handler(environment, lambda status, headers: None)
        content = b"".join(response)
        response.close()
        return response.status_code, content

    # Most packages provide views for the project's URLconf.
    answer = answer_plain


def make_environment(token: str | None, method: str, path: str, body: Any = None) -> dict[str, Any]:
    """Return a new WSGI environment."""
    content = b"" if body is None else json.dumps(body).encode()
    path, _, query = path.partition("?")
    return {
        **ENVIRONMENT,
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "CONTENT_TYPE": "application/json" if content else "",
        "CONTENT_LENGTH": str(len(content)),
        "wsgi.input": io.BytesIO(content),
        **({"HTTP_AUTHORIZATION": f"Bearer {token}"} if token else {}),
    }
