"""Reading the documents that clients publish."""

from __future__ import annotations

import hashlib
import socket
import ssl
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from functools import partial
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
from urllib3 import HTTPSConnectionPool
from urllib3.connection import HTTPSConnection
from urllib3.exceptions import HTTPError

from drf_mcp.exceptions import attempt

# The most documents that one process reads at once: in all, of one host, and for one person.
MOST_READERS = 12
MOST_OF_HOST = 4
MOST_OF_PERSON = 2
# How often documents are read for one person.
RATE = "10/min"
# How long a client that no person connected is kept: a sign-in takes minutes.
UNUSED_FOR = timedelta(hours=1)
# The key of a request's META with the person who is signed in; no client can send it.
PERSON = "drf_mcp.person"
# The grants of clients that the project did not add by hand: they need a person.
OWN_GRANTS = ("authorization_code", "refresh_token")
# For whom documents are read; None where no person is signed in.
reading_for: ContextVar[str | None] = ContextVar("reading_for", default="")


class NotNow(BaseException):
    """A document is not read now.

    Not an `Exception`, after which django-oauth-toolkit does not try again for a while.
    """


class ReadingRate(SimpleRateThrottle):
    """How often documents are read for a person, counted as REST framework counts."""

    rate = RATE

    @property
    def has_room(self) -> bool:
        asked: Any = None
        return self.allow_request(asked, asked)

    def get_cache_key(self, request: Any, view: Any) -> str:
        person = str(reading_for.get()).encode()
        return f"drf_mcp.oauth.documents:{hashlib.sha256(person).hexdigest()}"


class ReaderCounts:
    """How many documents are being read, by host and by person; each has a limit."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.lock = threading.Lock()

    @contextmanager
    def reading(self, host: str, person: str) -> Iterator[None]:
        keys = {("host", host): MOST_OF_HOST, ("person", person): MOST_OF_PERSON}
        with self.lock:
            if any(self.counts[key] >= most for key, most in keys.items()):
                raise NotNow
            self.counts.update(keys.keys())
        try:
            yield
        finally:
            with self.lock:
                self.counts.subtract(keys.keys())
                # Counts of zero are dropped.
                self.counts = +self.counts


class OpenSockets:
    """The sockets of one fetch, which are closed when the time of the fetch is over."""

    def __init__(self) -> None:
        self.sockets: list[socket.socket] = []
        self.is_over = False
        self.lock = threading.Lock()

    def add(self, made: socket.socket) -> None:
        with self.lock:
            if self.is_over:
                raise CIMDError("The time for the document is over.")
            # A copy, because TLS detaches the socket.
            self.sockets.append(made.dup())

    def close(self) -> None:
        with self.lock:
            self.is_over = True
            for each in self.sockets:
                attempt(partial(each.shutdown, socket.SHUT_RDWR), None)
                each.close()


class TrackedConnection(HTTPSConnection):
    def __init__(self, sockets: OpenSockets, **options: Any) -> None:
        super().__init__(**options)
        self.sockets = sockets

    def _new_conn(self) -> socket.socket:
        made = super()._new_conn()
        try:
            self.sockets.add(made)
        except CIMDError:
            made.close()
            raise
        return made


class BoundedFetcher(SafeMetadataFetcher):  # type: ignore[misc]
    """The fetcher of django-oauth-toolkit, with one limit of time for the whole fetch.

    Its own limit begins anew with each byte of the headers and leaves out the resolution of names,
    so slow hosts could hold all workers of the project.
    """

    readers = threading.BoundedSemaphore(MOST_READERS)
    by_place = ReaderCounts()

    def fetch(self, client_id: str) -> tuple[dict[str, Any], int]:
        """Return the document of a client, and for how many seconds it may be kept."""
        person = reading_for.get()
        host = _validate_client_id_url(client_id).hostname
        if person is None or not ReadingRate().has_room:
            raise NotNow
        with self.by_place.reading(host, person):
            if not self.readers.acquire(blocking=False):
                raise NotNow
            try:
                found = self._read_in_time(client_id)
            finally:
                self.readers.release()
        expire_documents()
        return found

    def _read_in_time(self, client_id: str) -> tuple[dict[str, Any], int]:
        found: Future[tuple[dict[str, Any], int]] = Future()
        sockets = OpenSockets()

        def read() -> None:
            document = partial(self.read, client_id, sockets)
            attempt(lambda: found.set_result(document()), otherwise=found.set_exception)

        # The resolution of a name cannot be stopped, so it runs in a thread.
        threading.Thread(target=read, daemon=True).start()
        try:
            return found.result(oauth2_settings.CIMD_FETCH_TIMEOUT_SECONDS)
        except FutureTimeoutError:
            raise CIMDError("The server of the document took too long.") from None
        finally:
            sockets.close()

    def read(self, client_id: str, sockets: OpenSockets) -> tuple[dict[str, Any], int]:
        # As in django-oauth-toolkit, the connection goes to a checked address, and TLS checks the
        # name of the host.
        place = _validate_client_id_url(client_id)
        port = place.port or 443
        path = f"{place.path}?{place.query}" if place.query else place.path
        headers = {"Host": place.netloc, "Accept": "application/json, application/*+json"}
        failure: HTTPError | None = None
        for address in _resolve_and_validate(place.hostname, port):
            pool = HTTPSConnectionPool(
                host=address,
                port=port,
                timeout=oauth2_settings.CIMD_FETCH_TIMEOUT_SECONDS,
                retries=False,
                ssl_context=ssl.create_default_context(),
                server_hostname=place.hostname,
            )
            pool.ConnectionCls = partial(TrackedConnection, sockets)  # type: ignore[assignment]
            try:
                response = pool.urlopen(
                    "GET", path, headers=headers, redirect=False, preload_content=False
                )
                try:
                    found: tuple[dict[str, Any], int] = self._read_document(response)
                    return found
                finally:
                    response.close()
            except HTTPError as exc:
                failure = exc
            finally:
                pool.close()
        raise CIMDError(f"The document could not be read: {failure}")


class AgentFetcher(BoundedFetcher):
    """Reads the document of a client, and leaves out the grants that agents are not offered."""

    def fetch(self, client_id: str) -> tuple[dict[str, Any], int]:
        document, seconds = super().fetch(client_id)
        return keep_offered_grants(document), seconds


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
