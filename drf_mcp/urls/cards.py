"""Cards by which hosts find the endpoints of a domain (SEP-2127), for the root of the host::

    path("", include("drf_mcp.urls.cards")),

``mcp/server-card`` describes the endpoint at ``mcp``, without a credential: its names, version,
description and address. The catalog at ``/.well-known/ai-catalog.json`` lists the cards; earlier
drafts of the extension have it at ``/.well-known/mcp/catalog.json``.
"""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import re_path
from django.utils.decorators import method_decorator
from django.views.decorators.http import conditional_page

from drf_mcp.access.authentication import resolve_authentication_classes
from drf_mcp.access.resources import FoundEndpoint, PublicDocument, WellKnownConverter
from drf_mcp.transports.client_configs import find_challenge
from drf_mcp.transports.server_card import ServerCard
from drf_mcp.views import without_login_and_transaction

CARD_TYPE, CATALOG_TYPE = "application/mcp-server-card+json", "application/ai-catalog+json"


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
