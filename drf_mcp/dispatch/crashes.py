"""What is done after an unexpected failure."""

from __future__ import annotations

import logging

from django.core.handlers.base import BaseHandler
from django.core.signals import got_request_exception
from django.db import connections
from django.http import HttpRequest

from drf_mcp.dispatch.response import new_request_id
from drf_mcp.exceptions import InternalError

logger = logging.getLogger("drf_mcp")


def report_unexpected(exc: Exception, request: HttpRequest | None) -> InternalError:
    request_id = new_request_id()
    logger.error("A message could not be answered [%s]", request_id, exc_info=exc)
    send_exception(exc, request)
    return InternalError(InternalError.describe(request_id), data={"request_id": request_id})


def send_exception(exc: Exception, request: HttpRequest | None) -> None:
    """Send Django's signal of a request that failed, while the exception is being handled.

    Error trackers read the exception from ``sys.exc_info()``.
    """
    try:
        raise exc
    except type(exc):
        got_request_exception.send_robust(sender=BaseHandler, request=request)


def close_broken_connections() -> None:
    # As between requests: the next call connects anew.
    for connection in connections.all(initialized_only=True):
        if connection.errors_occurred:
            connection.close_if_unusable_or_obsolete()
