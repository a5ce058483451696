"""Refused requests in the words of FastAPI, which the tools' contract shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rest_framework import views
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response
from rest_framework.settings import api_settings


def exception_handler(exc: Exception, context: dict[str, Any]) -> Response | None:
    """REST framework's own handler, but for what a serializer refuses.

    That is HTTP 422 and ``{"detail": [{"type", "loc", "msg", "input"}]}``.
    """
    response = views.exception_handler(exc, context)
    if response is not None and isinstance(exc, ValidationError):
        response.status_code = 422
        response.data = {"detail": list(problems(exc.detail, context["request"].data))}
    return response


def problems(detail: dict[str, Any], sent: Any) -> Iterator[dict[str, Any]]:
    """One entry for each message of a serializer, as FastAPI has it."""
    for field, errors in detail.items():
        whole = field == api_settings.NON_FIELD_ERRORS_KEY
        loc = ["body"] if whole else ["body", field]
        for error in errors:
            if error.code == "required":
                yield {"type": "missing", "loc": loc, "msg": "Field required", "input": sent}
            else:
                received = sent if whole else sent[field]
                yield {"type": error.code, "loc": loc, "msg": str(error), "input": received}
