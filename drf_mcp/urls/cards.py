"""Cards by which hosts find the endpoints of a domain (SEP-2127), for the root of the host::

    path("", include("drf_mcp.urls.cards")),

``mcp/server-card`` describes the endpoint at ``mcp``, without a credential: its names, version,
description and address. The catalog at ``/.well-known/ai-catalog.json`` lists the cards; earlier
drafts of the extension have it at ``/.well-known/mcp/catalog.json``.
"""

from __future__ import annotations

import re
from typing import Any

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

SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
CARD_TYPE, CATALOG_TYPE = "application/mcp-server-card+json", "application/ai-catalog+json"
# The most characters of texts in a card.
MOST = 100


class Card:
    """What a host reads of an endpoint before it connects."""

    def __init__(self, endpoint: FoundEndpoint, request: HttpRequest) -> None:
        self.endpoint = endpoint
        self.resource = endpoint.describe(request)
        self.server = self.resource.view.get_server()
        self.domain = request.get_host().rpartition(":")[0] or request.get_host()
        # The names of an endpoint and of its narrowed ones are alike.
        own = f"{self.server.describe_server()['name']}{endpoint.path.replace('/', '-')}"
        self.name = re.sub(r"[^a-zA-Z0-9._-]", "-", own.removesuffix("-mcp"))

    @property
    def url(self) -> str:
        return f"{self.resource.root}{self.resource.path}"

    @property
    def entry(self) -> dict[str, Any]:
        identifier = f"urn:air:{self.domain}:mcp:{self.name}"
        return {"identifier": identifier, "type": CARD_TYPE, "url": f"{self.url}/server-card"}

    @property
    def document(self) -> dict[str, Any]:
        info, view = self.server.describe_server(), self.resource.view
        title = info.get("title") or info["name"]
        remote: dict[str, Any] = {"type": "streamable-http", "url": self.url}
        remote["supportedProtocolVersions"] = list(REVISIONS)
        classes = resolve_authentication_classes(view.authentication_classes)
        if not view.get_authorization_servers() and (scheme := find_challenge(classes)):
            says = {"description": f"{scheme} and a credential.", "isSecret": True}
            remote["headers"] = [{"name": "Authorization", "isRequired": True, **says}]
        known = {name: info[name] for name in ("icons", "websiteUrl") if name in info}
        return {
            "$schema": SCHEMA,
            # The namespace is the domain, read backwards.
            "name": f"{'.'.join(reversed(self.domain.split('.')))}/{self.name}",
            "title": clip_text(title, MOST),
            "description": clip_text(info.get("description") or f"Tools of {title}.", MOST),
            "version": info["version"],
            **known,
            "remotes": [remote],
        }


@method_decorator(conditional_page, "dispatch")
class PublicCard(PublicDocument):
    headers = {**PublicDocument.headers, "Access-Control-Expose-Headers": "ETag"}


class CardView(PublicCard):
    def get(self, request: HttpRequest, path: str) -> HttpResponse:
        endpoint = WellKnownConverter().find_by_path(f"/{path}")
        if endpoint is None:
            raise Http404
        document = Card(endpoint, request).document
        return JsonResponse(document, headers=self.headers, content_type=CARD_TYPE)


class CatalogView(PublicCard):
    def get(self, request: HttpRequest) -> HttpResponse:
        found = (each for each in WellKnownConverter().find_every() if each.view.serves_mcp)
        entries = [Card(endpoint, request).entry for endpoint in found]
        document = {"specVersion": "1.0", "entries": entries}
        return JsonResponse(document, headers=self.headers, content_type=CATALOG_TYPE)


app_name = "drf_mcp_cards"
card, catalog = map(without_login_and_transaction, (CardView.as_view(), CatalogView.as_view()))
urlpatterns = [
    re_path(r"^\.well-known/(?:ai-catalog|mcp/catalog)\.json$", catalog, name="catalog"),
    re_path(r"^(?P<path>.*)/server-card$", card, name="server-card"),
]
