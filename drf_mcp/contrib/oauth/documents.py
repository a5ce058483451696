"""Reading the documents that clients publish."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from functools import partial
from typing import Any

from oauth2_provider.cimd import CIMDError, SafeMetadataFetcher
from oauth2_provider.settings import oauth2_settings

from drf_mcp.exceptions import contain

# Readers of one process, those that a server keeps waiting among them.
MOST_READERS = 10
CHUNK = 4096
SLOW = "The server of the document took too long."


class BoundedFetcher(SafeMetadataFetcher):  # type: ignore[misc]
    """The reader of django-oauth-toolkit, with a limit for all of the time that it takes.

    Its own limit begins anew with every byte, so a server that sends one now and then would hold
    a worker of the project for hours.
    """

    readers = threading.BoundedSemaphore(MOST_READERS)

    def fetch(self, client_id: str) -> tuple[dict[str, Any], int]:
        """Return the document of a client, and for how many seconds it may be kept.

        Raises:
            CIMDError: if there is none, or it takes more than CIMD_FETCH_TIMEOUT_SECONDS.
        """
        if not self.readers.acquire(blocking=False):
            raise CIMDError("Too many documents are being read.")
        found: Future[tuple[dict[str, Any], int]] = Future()
        threading.Thread(target=self.read, args=(client_id, found), daemon=True).start()
        try:
            return found.result(oauth2_settings.CIMD_FETCH_TIMEOUT_SECONDS)
        except FutureTimeoutError:
            raise CIMDError(SLOW) from None

    def read(self, client_id: str, found: Future[tuple[dict[str, Any], int]]) -> None:
        self.deadline = time.monotonic() + oauth2_settings.CIMD_FETCH_TIMEOUT_SECONDS
        document = partial(super().fetch, client_id)
        contain(lambda: found.set_result(document()), found.set_exception)
        self.readers.release()

    def _read_document(self, response: Any) -> Any:
        try:
            return super()._read_document(BoundedResponse(response, self.deadline))
        finally:
            response.close()


class BoundedResponse:
    """An answer whose body is read until a point in time."""

    def __init__(self, response: Any, deadline: float) -> None:
        self.response = response
        self.deadline = deadline
        self.status = response.status
        self.headers = response.headers

    def read(self, size: int) -> bytes:
        body = b""
        while len(body) < size and (chunk := self.response.read1(min(CHUNK, size - len(body)))):
            body += chunk
            if time.monotonic() > self.deadline:
                raise CIMDError(SLOW)
        return body
