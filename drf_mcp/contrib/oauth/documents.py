"""Reading the documents that clients publish."""

from __future__ import annotations

import hashlib
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.client import HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from oauth2_provider.cimd import (
    CIMDError,
    SafeMetadataFetcher,
    _resolve_and_validate,
    _validate_client_id_url,
)
from oauth2_provider.settings import oauth2_settings
from oauth2_provider.validators import AllowedURIValidator
from rest_framework.throttling import SimpleRateThrottle

from drf_mcp.exceptions import attempt

# The key of a request's META with the person who is signed in; no client can send it.
PERSON = "drf_mcp.person"
# The grants of clients that the project did not add by hand: they need a person.
OWN_GRANTS = ("authorization_code", "refresh_token")
# Hosts of the person's own machine.
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
# The grant of an assertion (RFC 7523, section 2.1).
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


class SignedInPermission(SimpleRateThrottle):
    """Lets documents be read for people who are signed in, ten a minute for each.

    Without permission a known client keeps the document that was read last.
    """

    rate = "10/min"

    def has_permission(self, request: Any, client_id: str) -> bool:
        view: Any = None
        return bool(request.headers.get(PERSON)) and self.allow_request(request, view)

    def get_cache_key(self, request: Any, view: Any) -> str:
        person = str(request.headers[PERSON]).encode()
        return f"drf_mcp.oauth.documents:{hashlib.sha256(person).hexdigest()}"


class BoundedFetcher(SafeMetadataFetcher):  # type: ignore[misc]
    """The fetcher of django-oauth-toolkit, with one limit of time for all that a host sends.

    The toolkit's begins anew with each byte, so slow hosts could hold all workers of the project.
    """

    def fetch(self, client_id: str) -> tuple[dict[str, Any], int]:
        """Return the document of a client, and for how many seconds it may be kept."""
        # As in django-oauth-toolkit, the connection goes to a checked address, and TLS checks the
        # name of the host.
        place, failure = _validate_client_id_url(client_id), "The time is over."
        host, port = place.hostname, place.port or 443
        path = f"{place.path}?{place.query}" if place.query else place.path
        until = time.monotonic() + oauth2_settings.CIMD_FETCH_TIMEOUT_SECONDS
        connection, context = HTTPSConnection(host, port), ssl.create_default_context()
        for address in _resolve_and_validate(host, port):
            try:
                plain = socket.create_connection((address, port), until - time.monotonic())
                with (
                    _ending(plain, until),
                    context.wrap_socket(plain, server_hostname=host) as connection.sock,
                ):
                    accepted = {"Accept": "application/json, application/*+json"}
                    connection.request("GET", path, headers=accepted)
                    with connection.getresponse() as response:
                        document, age = self._read_document(response)
                    return document, age
            except (OSError, HTTPException, ValueError) as exc:
                failure = str(exc)
        raise CIMDError(f"The document could not be read: {failure}")


class AgentFetcher(BoundedFetcher):
    """Leaves out what agents are not offered."""

    def fetch(self, client_id: str) -> tuple[dict[str, Any], int]:
        document, age = super().fetch(client_id)
        return choose_offered(document, ["none"]), age


@contextmanager
def _ending(plain: socket.socket, until: float) -> Iterator[None]:
    """Shut a socket down when its time is over."""
    # A copy, because TLS detaches the socket.
    with plain, plain.dup() as copy:
        shut = partial(attempt, partial(copy.shutdown, socket.SHUT_RDWR))
        timer = threading.Timer(until - time.monotonic(), shut)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def choose_offered(metadata: dict[str, Any], auth_methods: Sequence[str]) -> dict[str, Any]:
    """Return the metadata of a client without what it is not offered (RFC 7591, section 3.2.1).

    django-oauth-toolkit refuses a client that lists more, and still one that has nothing left.

    Args:
        auth_methods: how such a client may authenticate at the token endpoint.
    """
    # A member that is null is left out.
    chosen = {name: value for name, value in metadata.items() if value is not None}
    if isinstance(grants := chosen.get("grant_types"), list):
        chosen["grant_types"] = [each for each in grants if each in OWN_GRANTS]
    if isinstance(addresses := chosen.get("redirect_uris"), list):
        # Where none is left, the error names those of the client.
        chosen["redirect_uris"] = list(filter(takes_code, addresses)) or addresses
    if isinstance(known := chosen.get("token_endpoint_auth_methods_supported"), list) and known:
        both = [each for each in auth_methods if each in known]
        if chosen.get("token_endpoint_auth_method") not in both:
            chosen["token_endpoint_auth_method"] = [*both, *known][0]
    return chosen


def takes_code(redirect_uri: Any) -> bool:
    """Return whether a client may have a redirect URI."""
    schemes = oauth2_settings.ALLOWED_REDIRECT_URI_SCHEMES
    check = AllowedURIValidator(schemes, "redirect uri", allow_path=True, allow_query=True)
    try:
        check(redirect_uri)
    except ValidationError:
        return False
    return hides_code(redirect_uri)


def hides_code(redirect_uri: str) -> bool:
    """Return whether only the client reads a code on its way (OAuth 2.1, section 2.3)."""
    parts = urlsplit(redirect_uri)
    return parts.scheme != "http" or parts.hostname in LOOPBACK
