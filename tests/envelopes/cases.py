"""Every exception, and every shape of a success, that a view can answer with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404
from rest_framework import exceptions
from rest_framework.exceptions import ErrorDetail

from drf_mcp import call_context
from drf_mcp.exceptions import Conflict, FeatureDisabled, SoftFailure


class SpecNotFound(exceptions.NotFound):
    """An exception of a project."""

    default_code = "spec_not_found"


class Unavailable(exceptions.APIException):
    """A service is down."""

    status_code = 503
    default_code = "service_unavailable"
    default_detail = "The warehouse does not answer."


FIELDS = {
    "name": [ErrorDetail("This field is required.", "required")],
    "lines": [{}, {"quantity": [ErrorDetail("Ensure this value is at most 5.", "max_value")]}],
}

RAISED: dict[str, Callable[[], BaseException]] = {
    "api_exception": exceptions.APIException,
    "validation_error": lambda: exceptions.ValidationError("The dates overlap."),
    "validation_error_fields": lambda: exceptions.ValidationError(FIELDS),
    "validation_error_required": lambda: exceptions.ValidationError({"name": FIELDS["name"]}),
    "validation_error_unique": lambda: exceptions.ValidationError(
        {"name": [ErrorDetail("This name is taken.", "unique")]}
    ),
    "parse_error": exceptions.ParseError,
    "authentication_failed": exceptions.AuthenticationFailed,
    "not_authenticated": exceptions.NotAuthenticated,
    "permission_denied": exceptions.PermissionDenied,
    "django_permission_denied": PermissionDenied,
    "not_found": exceptions.NotFound,
    "http_404": lambda: Http404("No such order."),
    "spec_not_found": SpecNotFound,
    "method_not_allowed": lambda: exceptions.MethodNotAllowed("PUT"),
    "not_acceptable": exceptions.NotAcceptable,
    "unsupported_media_type": lambda: exceptions.UnsupportedMediaType("text/csv"),
    "throttled": lambda: exceptions.Throttled(wait=45),
    "bad_request": lambda: BadRequest("never shown"),
    "feature_disabled": lambda: FeatureDisabled("refunds"),
    "conflict": Conflict,
    "unavailable": Unavailable,
    "crash": lambda: ZeroDivisionError("never shown"),
    "soft_failure": lambda: SoftFailure("The chain is broken.", "chain_broken"),
    "soft_failure_with_data": lambda: SoftFailure(
        {"name": ErrorDetail("No such element.", "element_not_found")},
        data={"elements": [{"id": 1}, None]},
        remediation="Use elements_list to find existing elements.",
    ),
}


def warned(request: Any) -> dict[str, Any]:
    """Answer with warnings, a suggestion and a measurement."""
    notes = call_context(request)
    notes.warn("The data is 2 hours old.", code="STALE_CACHE", context={"hours": 2})
    notes.warn("1 source failed.", code="PARTIAL_FAILURE", remediation="Ask source b again.")
    notes.suggest("Refresh the cache.")
    notes.measure(downstream_calls=3)
    return {"id": 1}


ANSWERED: dict[str, Callable[[Any], Any]] = {
    "object": lambda request: {"id": 1, "name": None},
    "list": lambda request: [{"id": 1}, {"id": 2}],
    "empty_list": lambda request: [],
    "scalar": lambda request: 3,
    "none": lambda request: None,
    "warned": warned,
}
