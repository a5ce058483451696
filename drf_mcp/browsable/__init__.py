"""The page of the endpoint for people with a browser.

This module only decides whether a request is for the page: a server that no browser visits does
not load the other modules.
"""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from drf_mcp.settings import mcp_settings

TEXTS = "texts"
# How the query string of a POST of the page's scripts begins; messages of MCP have none.
SHOW = "show="


def is_page_on(shown: bool | None = None) -> bool:
    """Return whether an endpoint has the page: by its attribute, BROWSABLE_PAGE or DEBUG."""
    for default in (mcp_settings.BROWSABLE_PAGE, settings.DEBUG):
        shown = default if shown is None else shown
    return bool(shown)


def wants_texts(request: HttpRequest) -> bool:
    return request.GET.get("show") == TEXTS


def wants_page(request: HttpRequest, shown: bool | None = None) -> bool:
    """Return whether a GET asks for the page or its texts, and the page is ``shown``."""
    # Browsers name HTML in the Accept header of a page, and not of a script's request.
    kinds = ((kind.main_type, kind.sub_type) for kind in request.accepted_types)
    return is_page_on(shown) and (("text", "html") in kinds or wants_texts(request))


def is_for_scripts(request: HttpRequest, shown: bool | None = None) -> bool:
    """Return whether a POST comes from a script of the page, and the page is ``shown``."""
    return request.META.get("QUERY_STRING", "").startswith(SHOW) and is_page_on(shown)
