"""Reading the documents that clients publish, and the clients that are kept of them."""

from __future__ import annotations

import hashlib
import socket
import ssl
import threading
import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from datetime import timedelta
from functools import partial
from http.client import HTTPException, HTTPSConnection
from typing import Any

from django.db.models import Exists, OuterRef
from django.utils import timezone
from oauth2_provider.cimd import (
    CIMDError,
    SafeMetadataFetcher,
    _resolve_and_validate,
    _validate_client_id_url,
)
from oauth2_provider.models import (
    get_access_token_model,
    get_application_model,
    get_grant_model,
    get_refresh_token_model,
)
from oauth2_provider.settings import oauth2_settings
from rest_framework.throttling import SimpleRateThrottle

from drf_mcp.exceptions import attempt

# How often documents are read for one person.
RATE = "10/min"
# How long a client that no person connected is kept: a sign-in takes minutes.
UNUSED_FOR = timedelta(hours=1)
# The key of a request's META with the person who is signed in; no client can send it.
PERSON = "drf_mcp.person"
# The grants of clients that the project did not add by hand: they need a person.
OWN_GRANTS = ("authorization_code", "refresh_token")


class ReadingRate(SimpleRateThrottle):
    """How often documents are read for a person, counted as REST framework counts."""

    rate = RATE

    def get_cache_key(self, request: Any, view: Any) -> str:
        person = str(request.headers[PERSON]).encode()
        return f"drf_mcp.oauth.documents:{hashlib.sha256(person).hexdigest()}"


class SignedInPermission:
    """Lets documents be read for people who are signed in, and not without end.

    A client that sends a code is known already. Without permission it keeps the document that was
    read last.
    """

    def has_permission(self, request: Any, client_id: str) -> bool:
        view: Any = None
        return bool(request.headers.get(PERSON)) and ReadingRate().allow_request(request, view)


class AgentFetcher(SafeMetadataFetcher):  # type: ignore[misc]
    """The fetcher of django-oauth-toolkit, with one limit of time for the whole fetch.

    Its own limit begins anew with each byte of the headers and leaves out the resolution of names,
    so slow hosts could hold all workers of the project.
    """

    def fetch(self, client_id: str) -> tuple[dict[str, Any], int]:
        """Return the document of a client, and for how many seconds it may be kept.

        Grants that agents are not offered are left out.
        """
        seconds = oauth2_settings.CIMD_FETCH_TIMEOUT_SECONDS
        found: Future[tuple[dict[str, Any], int]] = Future()
        opened: list[socket.socket] = []
        read = partial(self._read, client_id, time.monotonic() + seconds, opened)

        def run() -> None:
            attempt(lambda: found.set_result(read()), otherwise=found.set_exception)

        # The resolution of a name cannot be stopped, so it runs in a thread.
        threading.Thread(target=run, daemon=True, name="document").start()
        try:
            document, age = found.result(seconds)
        except FutureTimeoutError:
            raise CIMDError("The server of the document took too long.") from None
        finally:
            for each in opened:
                attempt(partial(each.shutdown, socket.SHUT_RDWR), None)
                each.close()
        expire_documents()
        return keep_offered_grants(document), age

    def _read(
        self, client_id: str, until: float, opened: list[socket.socket]
    ) -> tuple[dict[str, Any], int]:
        # As in django-oauth-toolkit, the connection goes to a checked address, and TLS checks the
        # name of the host.
        place = _validate_client_id_url(client_id)
        host, port = place.hostname, place.port or 443
        path = f"{place.path}?{place.query}" if place.query else place.path
        connection, failure = HTTPSConnection(host, port), "The time for the document is over."
        for address in _resolve_and_validate(host, port):
            try:
                with socket.create_connection((address, port), until - time.monotonic()) as plain:
                    # A copy, because TLS detaches the socket.
                    opened.append(plain.dup())
                    # After the end nobody closes the copy.
                    plain.settimeout(max(until - time.monotonic(), 0))
                    context = ssl.create_default_context()
                    with context.wrap_socket(plain, server_hostname=host) as connection.sock:
                        accepted = "application/json, application/*+json"
                        connection.request("GET", path, headers={"Accept": accepted})
                        with connection.getresponse() as response:
                            document: tuple[dict[str, Any], int] = self._read_document(response)
                            return document
            except (OSError, HTTPException, ValueError) as exc:
                failure = str(exc)
        raise CIMDError(f"The document could not be read: {failure}")


def keep_offered_grants(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata of a client with the grants that it may use (RFC 7591, section 3.2.1).

    django-oauth-toolkit refuses a client with several grants, and then a client without any.
    """
    grants = metadata.get("grant_types")
    if not isinstance(grants, list):
        return metadata
    return {**metadata, "grant_types": [each for each in grants if each in OWN_GRANTS]}


def expire_documents() -> int:
    """Delete the clients that published a document and that no person has connected."""
    now = timezone.now()
    own = {"application": OuterRef("pk")}
    used = (
        get_access_token_model().objects.filter(**own, expires__gt=now),
        get_refresh_token_model().objects.filter(**own, revoked=None),
        get_grant_model().objects.filter(**own, expires__gt=now),
    )
    model = get_application_model()
    source = model.RegistrationSource.CIMD
    old = model.objects.filter(registration_source=source, updated__lte=now - UNUSED_FOR)
    unused = old.filter(*(~Exists(rows) for rows in used))
    return int(unused.delete()[1].get(model._meta.label, 0))
