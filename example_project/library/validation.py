"""Validation errors in the form of FastAPI, which the contract of the tools shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rest_framework import views
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response
from rest_framework.settings import api_settings


def exception_handler(exc: Exception, context: dict[str, Any]) -> Response | None:
    """Handle an exception as REST framework does, except for a validation error.

    A validation error is HTTP 422 and ``{"detail": [{"type", "loc", "msg", "input"}]}``.
    """
    response = views.exception_handler(exc, context)
    if response is not None and isinstance(exc, ValidationError):
        response.status_code = 422
        response.data = {"detail": list(problems(exc.detail, context["request"].data))}
    return response


def problems(detail: dict[str, Any], sent: Any) -> Iterator[dict[str, Any]]:
    """Yield an entry in FastAPI's form for each message of a serializer."""
    for field, errors in detail.items():
        whole = field == api_settings.NON_FIELD_ERRORS_KEY
        loc = ["body"] if whole else ["body", field]
        for error in errors:
            if error.code == "required":
                yield {"type": "missing", "loc": loc, "msg": "Field required", "input": sent}
            else:
                received = sent if whole else sent[field]
                yield {"type": error.code, "loc": loc, "msg": str(error), "input": received}
