"""The exception of services that the views need."""

from __future__ import annotations

from rest_framework.exceptions import APIException


class LibraryUnavailable(APIException):
    """Something that the answer needs cannot be reached now (HTTP 503).

    Args:
        detail: one sentence that says what.
        wait: seconds after which to try again, if known; becomes ``Retry-After``.
    """

    status_code = 503
    default_detail = "The library cannot answer now."
    default_code = "service_unavailable"

    def __init__(self, detail: str | None = None, wait: int | None = None) -> None:
        super().__init__(detail)
        self.wait = wait
