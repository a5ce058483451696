"""The metadata of protected resources (RFC 9728), at their well-known addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import Resolver404, URLPattern, URLResolver, get_resolver, get_urlconf
from django.views import View

from drf_mcp.access.resources import ProtectedResource

# Seconds for which caches may keep a document.
MAX_AGE = 3600
# Pages of any origin may read the metadata, which are the same for every caller (Fetch, "CORS
# protocol and credentials").
CORS_HEADERS = {"Access-Control-Allow-Origin": "*"}
PREFLIGHT_HEADERS = {
    "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
    "Access-Control-Allow-Headers": "*",
    "Access-Control-Max-Age": "86400",
}
# Characters of a path's regular expression that are not of the path.
UNANCHORED = str.maketrans("", "", "^$\\")


def is_endpoint(callback: Any) -> bool:
    # MCPView is not imported: checks run before the views are loaded.
    view_class = getattr(callback, "view_class", View)
    return hasattr(view_class, "server_class") and hasattr(view_class, "registry")


def find_endpoint_patterns(
    resolver: URLResolver, parents: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], URLPattern]]:
    """Yield each MCP endpoint of a URLconf with the chain of patterns that leads to it."""
    chain = (*parents, resolver.pattern)
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            yield from find_endpoint_patterns(entry, chain)
        elif is_endpoint(entry.callback):
            yield (*chain, entry.pattern), entry


@dataclass(frozen=True)
class FoundEndpoint:
    """An MCP endpoint of the URLconf."""

    path: str
    callback: Any
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def view(self) -> Any:
        return self.callback.view_class(**self.callback.view_initkwargs)

    @property
    def resource_path(self) -> str:
        return urlsplit(self.view.get_resource() or "").path.rstrip("/")

    def describe(self, request: HttpRequest) -> ProtectedResource:
        view = self.view
        view.setup(request, *self.args, **self.kwargs)
        resource: ProtectedResource = view.get_protected_resource(self.path)
        return resource


class WellKnownConverter:
    """Converts what follows ``/.well-known/oauth-protected-resource`` to the endpoint with OAuth.

    Without such an endpoint the pattern does not match, and the patterns after it are tried.
    """

    regex = r"(?:/.*)?"

    def to_python(self, value: str) -> FoundEndpoint:
        # One well-known address within another would be looked up over and over.
        found = None if "/.well-known/" in value else self.find(value.rstrip("/"))
        if found is None or not found.view.get_authorization_servers():
            raise ValueError(value)
        return found

    def to_url(self, value: Any) -> str:
        return str(getattr(value, "path", value))

    def find(self, path: str) -> FoundEndpoint | None:
        return self.find_by_path(path) or self.find_by_resource(path)

    def find_by_path(self, path: str) -> FoundEndpoint | None:
        for spelling in (path or "/", f"{path}/"):
            try:
                match = get_resolver(get_urlconf()).resolve(spelling)
            except Resolver404:
                continue
            if is_endpoint(match.func):
                return FoundEndpoint(path, match.func, match.args, match.kwargs)
        return None

    def find_by_resource(self, path: str) -> FoundEndpoint | None:
        # RESOURCE may name another path than the project's. Some clients look at the root of the
        # host alone: they get the only endpoint that offers all tools.
        every = [e for e in self.find_every() if e.view.get_authorization_servers()]
        named = [e for e in every if e.view.get_resource() and e.resource_path == path]
        if named or path:
            return named[0] if named else None
        every = [e for e in every if not e.view.is_narrowed]
        return every[0] if len(every) == 1 else None

    def find_every(self) -> Iterator[FoundEndpoint]:
        for chain, entry in find_endpoint_patterns(get_resolver(get_urlconf())):
            text = "".join(map(str, chain[1:])).translate(UNANCHORED).rstrip("/?")
            found = self.find_by_path(f"/{text}" if text else "")
            # A path with arguments leads elsewhere.
            if found and found.callback is entry.callback:
                yield found


class ProtectedResourceView(View):
    """Serves the metadata, without authentication."""

    http_method_names = ["get", "head", "options"]

    def get(self, request: HttpRequest, endpoint: FoundEndpoint) -> HttpResponse:
        headers = {**CORS_HEADERS, "Cache-Control": f"public, max-age={MAX_AGE}"}
        return JsonResponse(endpoint.describe(request).document, headers=headers)

    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return HttpResponse(status=204, headers={**CORS_HEADERS, **PREFLIGHT_HEADERS})
