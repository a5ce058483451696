"""FastMCP: ``from_openapi`` over drf-spectacular's document, with the API in the same process.

Its documentation recommends this to a project with an HTTP API. No network lies between them, so
only their work is measured. FastMCP by itself has one credential for all callers; here a hook
passes on each caller's, and a verifier of the project's tokens refuses anonymous callers.
"""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import fastmcp
import httpx2
from django.core.handlers.asgi import ASGIHandler
from fastmcp import FastMCP
from fastmcp.server.auth import AccessToken, TokenVerifier
from fastmcp.server.dependencies import get_http_headers
from rest_framework.authtoken.models import Token

from benchmarks.peers.doors import base
from benchmarks.requests import Request


class ProjectTokens(TokenVerifier):
    """Accepts REST framework's tokens."""

    async def verify_token(self, token: str) -> AccessToken | None:
        found = await Token.objects.select_related("user").filter(key=token).afirst()
        if found is None or not found.user.is_active:
            return None
        return AccessToken(token=token, client_id=found.user.username, scopes=[])


class CallersToken(httpx2.Auth):
    """Sends the token of the caller."""

    def auth_flow(self, request: Any) -> Any:
        request.headers.update(get_http_headers(include={"authorization"}))
        yield request


class Door(base.Door):
    version = fastmcp.__version__

    def __init__(self) -> None:
        super().__init__()
        with open(os.environ["DOCUMENT"], encoding="utf-8") as file:
            document = json.load(file)
        api = httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=ASGIHandler()),
            base_url="http://localhost",
            auth=CallersToken(),
        )
        # A response that does not match the OpenAPI document is no failure then.
        server = FastMCP.from_openapi(
            openapi_spec=document, client=api, validate_output=False, auth=ProjectTokens()
        )
        self.app = server.http_app(path="/mcp", json_response=True, stateless_http=True)
        self.loop = asyncio.new_event_loop()
        ready = asyncio.Event()
        self.lifespan = self.loop.create_task(self.live(ready))
        self.loop.run_until_complete(ready.wait())

    async def live(self, ready: asyncio.Event) -> None:
        async with self.app.router.lifespan_context(self.app):
            ready.set()
            await asyncio.Event().wait()

    def serve(self, request: Request) -> tuple[int, bytes]:
        return self.loop.run_until_complete(self.answer_asgi(request.environment()))

    async def answer_asgi(self, environment: dict[str, Any]) -> tuple[int, bytes]:
        """Return the response of FastMCP's ASGI application."""
        names = {"CONTENT_TYPE": "content-type", "CONTENT_LENGTH": "content-length"}
        names |= {
            name: name[5:].lower().replace("_", "-")
            for name in environment
            if name.startswith("HTTP_")
        }
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": environment["REQUEST_METHOD"],
            "scheme": "http",
            "path": environment["PATH_INFO"],
            "raw_path": environment["PATH_INFO"].encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(name.encode(), environment[key].encode()) for key, name in names.items()],
            "client": ("127.0.0.1", 1),
            "server": ("localhost", 80),
        }
        waiting = [{"type": "http.request", "body": environment["wsgi.input"].read()}]
        status, content = 0, b""

        async def receive() -> dict[str, Any]:
            if waiting:
                return waiting.pop()
            await asyncio.Event().wait()
            raise AssertionError

        async def send(message: Any) -> None:
            nonlocal status, content
            status = message.get("status", status)
            content += message.get("body", b"")

        await self.app(scope, receive, send)
        return status, content
