"""Cards by which hosts find the endpoints of a domain (SEP-2127), for the root of the host::

    path("", include("drf_mcp.urls.cards")),

``mcp/server-card`` describes the endpoint at ``mcp``, without a credential: its names, version,
description and address. The catalog at ``/.well-known/ai-catalog.json`` lists the cards; earlier
drafts of the extension have it at ``/.well-known/mcp/catalog.json``.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import re_path
from django.utils.decorators import method_decorator
from django.views.decorators.http import conditional_page

from drf_mcp.access.authentication import resolve_authentication_classes
from drf_mcp.access.resources import FoundEndpoint, PublicDocument, WellKnownConverter
from drf_mcp.protocol import REVISIONS
from drf_mcp.transports.client_configs import find_challenge
from drf_mcp.truncation.tokens import clip_text
from drf_mcp.views import without_login_and_transaction

SCHEMAS = "https://static.modelcontextprotocol.io/schemas"
CARD_SCHEMA = f"{SCHEMAS}/v1/server-card.schema.json"
REGISTRY_SCHEMA = f"{SCHEMAS}/2025-12-11/server.schema.json"
# The most characters of texts in a card.
MOST = 100
CARD_TYPE, CATALOG_TYPE = "application/mcp-server-card+json", "application/ai-catalog+json"


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


def make_card(endpoint: FoundEndpoint, request: HttpRequest) -> ServerCard:
    resource = endpoint.describe(request)
    view = resource.view
    scheme = None
    if not view.get_authorization_servers():
        scheme = find_challenge(resolve_authentication_classes(view.authentication_classes))
    return ServerCard(view.get_server(), f"{resource.root}{resource.path}", scheme)


def make_entry(card: ServerCard) -> dict[str, str]:
    identifier = f"urn:air:{card.domain}:mcp:{card.name}"
    return {"identifier": identifier, "type": CARD_TYPE, "url": f"{card.url}/server-card"}


@method_decorator(conditional_page, "dispatch")
class PublicCard(PublicDocument):
    headers = {**PublicDocument.headers, "Access-Control-Expose-Headers": "ETag"}


class CardView(PublicCard):
    def get(self, request: HttpRequest, path: str) -> HttpResponse:
        endpoint = WellKnownConverter().find_by_path(f"/{path}")
        if endpoint is None:
            raise Http404
        document = make_card(endpoint, request).card
        return JsonResponse(document, headers=self.headers, content_type=CARD_TYPE)


class CatalogView(PublicCard):
    def get(self, request: HttpRequest) -> HttpResponse:
        found = (each for each in WellKnownConverter().find_every() if each.view.serves_mcp)
        entries = [make_entry(make_card(endpoint, request)) for endpoint in found]
        document = {"specVersion": "1.0", "entries": entries}
        return JsonResponse(document, headers=self.headers, content_type=CATALOG_TYPE)


app_name = "drf_mcp_cards"
card, catalog = map(without_login_and_transaction, (CardView.as_view(), CatalogView.as_view()))
urlpatterns = [
    re_path(r"^\.well-known/(?:ai-catalog|mcp/catalog)\.json$", catalog, name="catalog"),
    re_path(r"^(?P<path>.*)/server-card$", card, name="server-card"),
]
