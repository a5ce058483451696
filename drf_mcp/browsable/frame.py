"""The frame of every page: server name, account, HTTP headers, texts of the scripts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import NoReverseMatch, reverse
from django.utils.cache import add_never_cache_headers, patch_cache_control, patch_vary_headers
from django.utils.functional import cached_property
from django.utils.http import urlencode
from django.utils.module_loading import import_string
from django.utils.translation import get_language, get_supported_language_variant, override
from django.views.decorators.http import conditional_page
from django.views.i18n import JavaScriptCatalog

from drf_mcp.option_types.installed import features
from drf_mcp.protocol.constants import REVISIONS
from drf_mcp.routes.tool import Tool
from drf_mcp.settings import mcp_settings


class PagePart:
    """What an app adds to the page that a browser sees at an endpoint.

    A template gets the context of the page; one of `get_home`, `get_client_cards`, `get_cards`
    or `get_sections` also gets its own as ``part``, with its path as ``template``.

    Args:
        page: the `BrowsablePage`, or the `Frame` of another page with the same links.
    """

    def __init__(self, page: Any) -> None:
        self.page = page

    def get_links(self) -> Mapping[str, str]:
        """Return the titles of the part's own pages, by the value of ``show`` in their address."""
        return {}

    def get_addresses(self) -> Mapping[str, str]:
        """Return the titles of further pages that the user may open, by their addresses."""
        return {}

    def get_page(self, show: str, tools: Mapping[str, Tool]) -> Mapping[str, Any] | None:
        """Return the context of a page of its own, None for a page that it does not have.

        Args:
            tools: what the endpoint offers its caller, by name.
        """
        return None

    def answer(self, show: str) -> HttpResponse | None:
        """Return the response to a POST of the part's scripts, None for another part's POST.

        Args:
            show: the ``show`` of the address.

        Raises:
            APIException: if the caller is refused.
        """
        return None

    def get_home(self, tools: Mapping[str, Tool]) -> Sequence[Mapping[str, Any]]:
        """Return the contexts of sections at the top of the home, before the tools.

        A section whose ``order`` is lower comes first; it is 100 where it has none.

        Args:
            tools: what the endpoint offers its caller, by name.
        """
        return ()

    def get_client_cards(self, authorization: str) -> Sequence[Mapping[str, Any]]:
        """Return the contexts of cards on the page that connects clients.

        Args:
            authorization: the header's value in the configurations, with a placeholder.
        """
        return ()

    def get_cards(self, tool: Tool) -> Sequence[Mapping[str, Any]]:
        """Return the contexts of cards on the page of a tool, before its hints."""
        return ()

    def get_sections(self, tool: Tool) -> Sequence[Mapping[str, Any]]:
        """Return the contexts of sections at the end of the page of a tool."""
        return ()

    def get_audience(self, tool: Tool) -> str:
        """Return in one line who may call a tool, "" for nothing."""
        return ""


def write_address(tool: str, arguments: Any) -> str:
    """Return the query and fragment of the page of a tool, with the arguments of a call."""
    return f"?{urlencode({'tool': tool})}#call={quote(json.dumps(arguments))}"


# In the order of their use. They are no modules: an imported module has no hash in its name, and
# a module from another host needs headers that hosts of static files seldom send.
EVERYWHERE = ("dom.js", "page.js")
OF_A_TOOL = (
    "dom.js",
    "finder.js",
    "fields.js",
    "form.js",
    "wire.js",
    "words.js",
    "values.js",
    "answer.js",
    "trail.js",
    "compare.js",
    "page.js",
)
STATIC_FILES = ("drf_mcp/page.css", "drf_mcp/icon.svg", *map("drf_mcp/{}".format, OF_A_TOOL))
Context = dict[str, Any]


class ScriptTexts(JavaScriptCatalog):
    """Django's catalog for the page's scripts, with the texts of this package alone.

    Each page serves it at its own path, wherever the project has put the page, and without
    authentication. The address names the language, for caches.
    """

    # Not ``djangojs``, which holds texts of the project.
    domain = "drf_mcpjs"
    packages = ["drf_mcp"]

    @staticmethod
    def locate(path: str) -> str:
        """Return the address of the texts in the active language, for a page at this path."""
        query = urlencode({"show": "texts", "language": get_language() or "en"})
        return f"{path}?{query}"

    @classmethod
    def respond(cls, request: HttpRequest) -> HttpResponse:
        return conditional_page(cls.as_view())(request)  # type: ignore[return-value]

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            # Supported languages alone: Django keeps all texts of each language that was active.
            language = get_supported_language_variant(request.GET.get("language", ""))
        except LookupError:
            language = get_language()
        with override(language):
            response: HttpResponse = super().get(request, *args, **kwargs)
        # Revalidated each time: a project may change its own texts.
        patch_cache_control(response, no_cache=True)
        response["X-Content-Type-Options"] = "nosniff"
        return response


class Frame:
    """The frame of a page."""

    # A project may override the template, extending "drf_mcp/base.html".
    template_name = "drf_mcp/api.html"

    def __init__(self, server: Any, request: HttpRequest, home: str) -> None:
        self.server = server
        self.request = request
        self.home = home
        self.endpoint = request.build_absolute_uri(home)

    def respond(self, context: Context, status: int, signed_in: bool) -> HttpResponse:
        try:
            # If the project has the URLs of REST framework's login.
            url = reverse("rest_framework:logout" if signed_in else "rest_framework:login")
            back = urlencode({"next": self.request.get_full_path()})
            account = {"logout_url": url} if signed_in else {"login_url": f"{url}?{back}"}
        except NoReverseMatch:
            account = {}
        scripts = OF_A_TOOL if "card" in context else EVERYWHERE
        context = {
            "scripts": [f"drf_mcp/{name}" for name in scripts],
            "texts": ScriptTexts.locate(self.request.path),
            "links": [link for part in self.parts for link in part.get_links().items()],
            "addresses": [each for part in self.parts for each in part.get_addresses().items()],
            "path": self.request.path,
            **context,
            **account,
        }
        response = render(self.request, self.template_name, context, status=status)
        # STATIC_URL may name another host.
        addresses = (urlsplit(static(path)) for path in STATIC_FILES)
        hosts = {f"{url.scheme or 'https'}://{url.netloc}" for url in addresses if url.netloc}
        own = " ".join(["'self'", *sorted(hosts)])
        response["Content-Security-Policy"] = (
            f"default-src 'none'; script-src {own}; style-src {own}; img-src {own} data:; "
            "media-src data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
            "base-uri 'none'"
        )
        response["Referrer-Policy"] = "same-origin"
        response["X-Content-Type-Options"] = "nosniff"
        patch_vary_headers(response, ["Accept", "Cookie"])
        add_never_cache_headers(response)
        return response

    @cached_property
    def parts(self) -> Sequence[PagePart]:
        paths = (path for feature in features.installed for path in feature.page_parts)
        return [import_string(path)(self) for path in paths]

    @property
    def is_trusted(self) -> bool:
        # Only staff see the source's names and lines, row counts and the number of hidden tools.
        user = getattr(self.request, "user", None)
        return settings.DEBUG or bool(getattr(user, "is_staff", False))

    def make_server_context(self) -> Context:
        info = self.server.get_server_info()
        return {
            "server_name": info["name"],
            "server_title": info.get("title") or info["name"],
            "server_version": info["version"],
            "revisions": REVISIONS,
            "envelope": mcp_settings.ENVELOPE_CLASS.__name__,
            "home": self.home,
            "endpoint": self.endpoint,
        }
