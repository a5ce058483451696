"""The page that the endpoint shows to people with a browser.

What decides whether a request is for the page is here, since a server of agents alone has no use
for the rest.
"""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from drf_mcp.settings import mcp_settings

TEXTS = "texts"
# The query of a POST by the scripts of the page begins so; messages of MCP have no query.
SHOW = "show="


def is_page_on(shown: bool | None) -> bool:
    for default in (mcp_settings.BROWSABLE_PAGE, settings.DEBUG):
        shown = default if shown is None else shown
    return bool(shown)


def wants_texts(request: HttpRequest) -> bool:
    return request.GET.get("show") == TEXTS


def wants_page(request: HttpRequest, shown: bool | None = None) -> bool:
    """Return whether a GET asks for the page or its texts, and the page is ``shown``."""
    # Only browsers name HTML in the Accept header; for scripts they do not.
    kinds = ((kind.main_type, kind.sub_type) for kind in request.accepted_types)
    return is_page_on(shown) and (("text", "html") in kinds or wants_texts(request))


def is_for_scripts(request: HttpRequest, shown: bool | None = None) -> bool:
    """Return whether a POST is one of the page's own scripts, and the page is ``shown``."""
    return request.META.get("QUERY_STRING", "").startswith(SHOW) and is_page_on(shown)
