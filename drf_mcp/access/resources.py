"""An endpoint as a protected resource of OAuth: its metadata and its challenge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import Resolver404, URLPattern, URLResolver, get_resolver, get_urlconf
from django.utils.encoding import escape_uri_path
from django.views import View

WELL_KNOWN = "/.well-known/oauth-protected-resource"
# The ports that a scheme has without naming them.
DEFAULT_PORTS = {"https": ":443", "http": ":80"}
BEARER = "Bearer"
# One parameter as RFC 9110 has it: a token, or a string in quotes.
PARAMETER = r"""([!#$%&'*+.^_`|~\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",=]+))"""
CHALLENGE = re.compile(rf"bearer(?:\s+{PARAMETER}(?:\s*,\s*{PARAMETER})*)?\s*", re.I | re.A)
# A token in an Authorization header (RFC 6750, section 2.1).
TOKEN = re.compile(r"[\w.~+/-]+=*", re.A)
# Several clients end a value at the first quote, even if it is escaped.
UNWRITABLE = str.maketrans({'"': "'", "\\": "/"})


class BearerChallenge:
    """A Bearer challenge of ``WWW-Authenticate`` (RFC 6750, section 3)."""

    def __init__(self, parameters: Mapping[str, str] | None = None) -> None:
        self.parameters = dict(parameters or {})

    @classmethod
    def parse(cls, header: str) -> BearerChallenge | None:
        if not CHALLENGE.fullmatch(header):
            return None
        found = re.findall(PARAMETER, header[len(BEARER) :], re.A)
        return cls({name: re.sub(r"\\(.)", r"\1", text) or word for name, text, word in found})

    def __str__(self) -> str:
        written = []
        for name, text in self.parameters.items():
            clean = "".join(filter(str.isprintable, text.translate(UNWRITABLE))).strip()
            # Headers are ASCII: a text in another alphabet is left out.
            if clean and text.isascii():
                written.append(f'{name}="{clean}"')
        return f"{BEARER} {', '.join(written)}".rstrip()


def is_below(address: str, resource: str) -> bool:
    """Return whether an address is a resource, or one below it (RFC 8707)."""

    def read(text: str) -> tuple[tuple[str, str], str]:
        parts = urlsplit(text)
        host = parts.netloc.lower().removesuffix(DEFAULT_PORTS.get(parts.scheme, " "))
        return (parts.scheme, host), f"{parts.path.rstrip('/')}/"

    (place, path), (other, above) = read(address), read(resource)
    return place == other and path.startswith(above)


class ProtectedResource:
    """One endpoint as the protected resource of RFC 9728.

    Args:
        view: the endpoint's view.
        request: a request to the host, with any path.
        path: the endpoint's path below the script prefix, such as ``/mcp``.
    """

    def __init__(self, view: Any, request: HttpRequest, path: str) -> None:
        self.view = view
        self.request = request
        self.path = escape_uri_path(path).rstrip("/")

    @cached_property
    def root(self) -> str:
        # The address of the project for clients, with the script prefix.
        request = self.request
        scheme = str(request.scheme)
        host = request.get_host().lower().removesuffix(DEFAULT_PORTS.get(scheme, ""))
        script = escape_uri_path(request.path.removesuffix(request.path_info))
        return f"{scheme}://{host}{script.rstrip('/')}"

    @cached_property
    def uri(self) -> str:
        """The canonical URI, without a slash at its end."""
        own: str = self.view.get_resource() or f"{self.root}{self.path}"
        return own.rstrip("/")

    @cached_property
    def metadata_url(self) -> str:
        """The address of the metadata: the endpoint's, with the well-known part before it.

        The script prefix stays before the well-known part, so that the address is one of the
        project's URLs.
        """
        base = self.root
        if self.uri.endswith(self.path):
            base = self.uri.removesuffix(self.path)
        elif self.view.get_resource():
            parts = urlsplit(self.uri)
            base = f"{parts.scheme}://{parts.netloc}{urlsplit(self.root).path}"
        return f"{base}{WELL_KNOWN}{self.path}"

    @cached_property
    def authorization_servers(self) -> list[str]:
        """The issuers; a path is an issuer on this host."""
        servers = self.view.get_authorization_servers()
        return [f"{self.root}{url}" if url.startswith("/") else url for url in servers]

    @property
    def document(self) -> dict[str, Any]:
        """The metadata (RFC 9728, section 2)."""
        scopes, info = list(self.view.get_scopes()), self.view.get_server().get_server_info()
        return {
            "resource": self.uri,
            "authorization_servers": self.authorization_servers,
            **({"scopes_supported": scopes} if scopes else {}),
            "bearer_methods_supported": ["header"],
            "resource_name": info.get("title") or info["name"],
        }

    def challenge(self, *scopes: str) -> BearerChallenge:
        """Return the challenge for a token with the endpoint's scopes and with these."""
        parameters = {"resource_metadata": self.metadata_url}
        if wanted := dict.fromkeys([*self.view.get_scopes(), *scopes]):
            parameters["scope"] = " ".join(wanted)
        return BearerChallenge(parameters)


# Characters of a path's regular expression that are not of the path.
UNANCHORED = str.maketrans("", "", "^$\\")


def is_endpoint(callback: Any) -> bool:
    # By attributes, since checks run before MCPView is imported.
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
    """An endpoint of the URLconf, with what its path captures."""

    path: str
    callback: Any
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def view(self) -> Any:
        return self.callback.view_class(**self.callback.view_initkwargs)

    def describe(self, request: HttpRequest) -> ProtectedResource:
        view = self.view
        view.setup(request, *self.args, **self.kwargs)
        resource: ProtectedResource = view.make_protected_resource(self.path)
        return resource


class WellKnownConverter:
    """Converts what follows the well-known address to the endpoint with OAuth."""

    regex = r"(?:/.*)?"

    def to_python(self, value: str) -> FoundEndpoint:
        path, found = value.rstrip("/"), None
        # A well-known address within another would be resolved recursively.
        if "/.well-known/" not in value:
            found = self.find_by_path(path) or self._find_by_resource(path)
        if found is None or not found.view.get_authorization_servers():
            raise ValueError(value)
        return found

    def to_url(self, value: Any) -> str:
        return str(getattr(value, "path", value))

    def find_by_path(self, path: str) -> FoundEndpoint | None:
        for spelling in (path or "/", f"{path}/"):
            try:
                match = get_resolver(get_urlconf()).resolve(spelling)
            except Resolver404:
                continue
            if is_endpoint(match.func):
                return FoundEndpoint(path, match.func, match.args, match.kwargs)
        return None

    def _find_by_resource(self, path: str) -> FoundEndpoint | None:
        # RESOURCE may have another path than the project's URL. Some clients only ask at the root
        # of the host: they get the endpoint that offers all tools, if there is only one.
        unnarrowed = []
        for endpoint in self.find_every():
            view = endpoint.view
            if not view.get_authorization_servers():
                continue
            resource = view.get_resource()
            if resource and urlsplit(resource).path.rstrip("/") == path:
                return endpoint
            if not view.is_narrowed:
                unnarrowed.append(endpoint)
        return unnarrowed[0] if len(unnarrowed) == 1 and not path else None

    def find_every(self) -> Iterator[FoundEndpoint]:
        for chain, entry in find_endpoint_patterns(get_resolver(get_urlconf())):
            text = "".join(map(str, chain[1:])).translate(UNANCHORED).rstrip("/?")
            found = self.find_by_path(f"/{text}" if text else "")
            # A path with arguments cannot be resolved.
            if found and found.callback is entry.callback and not found.kwargs:
                yield found


class PublicDocument(View):
    """Metadata that are the same for every caller, so pages of any origin may read them."""

    http_method_names = ["get", "head", "options"]
    # Fetch, "CORS protocol and credentials".
    headers = {"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=3600"}
    preflight_headers = {
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
        "Access-Control-Allow-Headers": "*",
        "Access-Control-Max-Age": "86400",
    }

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().dispatch(request, *args, **kwargs)  # type: ignore[assignment]
        own = self.preflight_headers if request.method == "OPTIONS" else self.headers
        for name, value in own.items():
            response[name] = value
        return response

    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return HttpResponse(status=204)


class ProtectedResourceView(PublicDocument):
    def get(self, request: HttpRequest, endpoint: FoundEndpoint) -> HttpResponse:
        return JsonResponse(endpoint.describe(request).document)
