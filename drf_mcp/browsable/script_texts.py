from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control
from django.utils.http import urlencode
from django.utils.translation import get_language, get_supported_language_variant, override
from django.views.decorators.http import conditional_page
from django.views.i18n import JavaScriptCatalog


class ScriptTexts(JavaScriptCatalog):
    """Django's catalog for the page's scripts, with the texts of this package alone.

    Every page has it at its own path, so that it is found wherever a project has put the page.
    The address names the language, so that no cache gives one reader the texts of another; the
    texts themselves are no secret, and have to be there before anybody is let in.
    """

    # Not Django's own name, by which a project's folders have texts for whoever signs in.
    domain = "drf_mcpjs"
    packages = ["drf_mcp"]

    @staticmethod
    def are_wanted(request: HttpRequest) -> bool:
        return request.GET.get("show") == "texts"

    @staticmethod
    def locate(path: str) -> str:
        """Return the address of the active language's texts, for a page at this path."""
        query = urlencode({"show": "texts", "language": get_language() or "en"})
        return f"{path}?{query}"

    @classmethod
    def respond(cls, request: HttpRequest) -> HttpResponse:
        """Return the script that knows the texts, or that a browser has them already."""
        return conditional_page(cls.as_view())(request)  # type: ignore[return-value]

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        with override(self.read_language(request.GET.get("language", ""))):
            response: HttpResponse = super().get(request, *args, **kwargs)
        # Kept, and asked for again: a project may change its own texts at any time.
        patch_cache_control(response, no_cache=True)
        response["X-Content-Type-Options"] = "nosniff"
        return response

    def read_language(self, code: str) -> str | None:
        # No other: Django remembers all texts of each language that it has ever activated.
        try:
            return get_supported_language_variant(code)
        except LookupError:
            return get_language()
