"""What a host or a registry reads of an endpoint before it connects."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from drf_mcp.protocol import REVISIONS
from drf_mcp.truncation.tokens import clip_text

SCHEMAS = "https://static.modelcontextprotocol.io/schemas"
CARD_SCHEMA = f"{SCHEMAS}/v1/server-card.schema.json"
REGISTRY_SCHEMA = f"{SCHEMAS}/2025-12-11/server.schema.json"
# The most characters of texts in a card.
MOST = 100


class ServerCard:
    """The public facts of an endpoint.

    Args:
        server: the `Server` of the endpoint.
        url: the address of the endpoint.
        scheme: of the Authorization header that clients are asked for, None for none.
    """

    def __init__(self, server: Any, url: str, scheme: str | None) -> None:
        self.server, self.url, self.scheme = server, url, scheme
        parts = urlsplit(url)
        self.domain = parts.hostname or ""
        # The names of an endpoint and of its narrowed ones are alike.
        own = f"{server.describe_server()['name']}{parts.path.rstrip('/').replace('/', '-')}"
        self.name = re.sub(r"[^a-zA-Z0-9._-]", "-", own.removesuffix("-mcp"))

    @property
    def card(self) -> dict[str, Any]:
        """The server card (SEP-2127)."""
        return self._describe(CARD_SCHEMA, {"supportedProtocolVersions": list(REVISIONS)})

    @property
    def registry_file(self) -> dict[str, Any]:
        """The ``server.json`` of the MCP Registry."""
        return self._describe(REGISTRY_SCHEMA, {})

    def _describe(self, schema: str, own: dict[str, Any]) -> dict[str, Any]:
        info = self.server.describe_server()
        title = info.get("title") or info["name"]
        remote: dict[str, Any] = {"type": "streamable-http", "url": self.url, **own}
        if self.scheme:
            says = {"description": f"{self.scheme} and a credential.", "isSecret": True}
            remote["headers"] = [{"name": "Authorization", "isRequired": True, **says}]
        known = {name: info[name] for name in ("icons", "websiteUrl") if name in info}
        return {
            "$schema": schema,
            # The namespace is the domain, read backwards.
            "name": f"{'.'.join(reversed(self.domain.split('.')))}/{self.name}",
            "title": clip_text(title, MOST),
            "description": clip_text(info.get("description") or f"Tools of {title}.", MOST),
            "version": info["version"],
            **known,
            "remotes": [remote],
        }
