"""An endpoint as an OAuth resource server: its address, its metadata, what it asks of a token."""

from __future__ import annotations

from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest
from django.utils.encoding import escape_uri_path

from drf_mcp.access.challenges import BearerChallenge

WELL_KNOWN = "/.well-known/oauth-protected-resource"
# A host is the same with the port that its scheme has anyway.
DEFAULT_PORTS = {"https": ":443", "http": ":80"}


class ProtectedResource:
    """One endpoint in the terms of RFC 9728.

    Args:
        view: the endpoint's view.
        request: a request to the host, whichever path it asks for.
        path: the endpoint's path below the script prefix, such as ``/mcp``.
    """

    def __init__(self, view: Any, request: HttpRequest, path: str) -> None:
        self.view = view
        self.request = request
        self.path = escape_uri_path(path).rstrip("/")

    @cached_property
    def root(self) -> str:
        # Where the project's URLs begin, as clients see it.
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
        """The address of the metadata: that of the endpoint, with the well-known part before it.

        The script prefix comes first, since no other address need lead to this project.
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
        """The issuers; a path stands for one on this very host."""
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
        """Return the challenge that asks for a token with the endpoint's scopes and these."""
        parameters = {"resource_metadata": self.metadata_url}
        if wanted := dict.fromkeys([*self.view.get_scopes(), *scopes]):
            parameters["scope"] = " ".join(wanted)
        return BearerChallenge(parameters)
