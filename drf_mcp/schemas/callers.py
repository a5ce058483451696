"""Descriptions that depend on who asks: one for anybody, one for somebody who may do all."""

from __future__ import annotations

from rest_framework.serializers import BaseSerializer

from drf_mcp.schemas.attempts import attempt
from drf_mcp.schemas.bodies.handling import inside
from drf_mcp.schemas.bodies.request_body import request_body
from drf_mcp.schemas.fields.shared import is_known
from drf_mcp.schemas.inspection import GUARD, Inspection
from drf_mcp.schemas.renaming import Renaming
from drf_mcp.schemas.source.independence import makes_for_everybody
from drf_mcp.schemas.unions import either_body
from drf_mcp.schemas.values import Body, Finding

RENAMED = "Let the view's parser and renderer work without a request that was sent."
MAKERS = ("get_serializer_class", "get_serializer")
"""What a view overrides to give different callers different serializers."""
FIELD_MAKERS = ("__init__", "get_fields", "fields", "_writable_fields")
"""What a serializer overrides to give different callers different fields."""


def body_for_anybody(inspection: Inspection) -> Body:
    """Return the body that one caller or another may send.

    Where the fields may depend on the caller, they are described for an anonymous one and
    for a superuser; what only one of them may send is optional.
    """
    known = len(inspection.findings)
    body = body_of(inspection)
    failed = body.kind == "open" and len(inspection.findings) > known
    if not (failed or inspection.attempt(lambda: depends_on_caller(inspection), GUARD, False)):
        return body
    findings: list[Finding] = []
    other = attempt(inspection.place, lambda: body_for_superuser(inspection), "", findings, None)
    if other is None:
        return body
    if failed:
        del inspection.findings[known:]
        return other
    return either_body(body, other)


def body_of(inspection: Inspection) -> Body:
    """Return the body that this caller may send, under the keys that clients use."""
    body = request_body(inspection)
    return inspection.attempt(lambda: Renaming(inspection.view).body(body), RENAMED, body)


def depends_on_caller(inspection: Inspection) -> bool:
    """Return True if another caller might be asked for other fields."""
    view, serializer = inspection.view, inspection.serializer
    if serializer is None:
        return False
    if hasattr(view, "get_serializer_class") and not makes_for_everybody(type(view), MAKERS):
        return True
    return not is_known(serializer) and any(
        isinstance(field, BaseSerializer) and not makes_for_everybody(type(field), FIELD_MAKERS)
        for _, field in inside(serializer)
    )


def body_for_superuser(inspection: Inspection) -> Body | None:
    """Return the body as a superuser may send it; None if it cannot be described."""
    privileged = inspection.privileged
    known = len(privileged.findings)
    body = body_of(privileged)
    return None if body.kind == "open" and len(privileged.findings) > known else body
