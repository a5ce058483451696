"""Descriptions that depend on who asks: those of everybody who may, as one."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator

from rest_framework.serializers import BaseSerializer

from drf_mcp.introspection.fields.shared import SharedDescription
from drf_mcp.introspection.inspection import GUARD, Inspection
from drf_mcp.introspection.renaming import Renaming
from drf_mcp.introspection.request_body.declared import CompletedBody
from drf_mcp.introspection.request_body.describer import NONE, RequestBody
from drf_mcp.introspection.request_body.handling import walk_fields
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.source.overrides import (
    FLAG,
    is_left_to_frameworks,
    is_same_without_flag,
)
from drf_mcp.introspection.types import UNSAID, Body, Finding

RENAMED = "Let the view's parser and renderer work without a request that was sent."
DECLARE = (
    "Name the members that only a real request may send with @mcp_tool(body={...}), or choose"
    " the serializer without swagger_fake_view."
)
CHOSEN_BY_FLAG = "The serializer depends on swagger_fake_view, and cannot be made without it:"
MAKERS = ("get_serializer_class", "get_serializer")
"""What a view overrides to give different callers different serializers."""
FIELD_MAKERS = (
    "__init__",
    "get_fields",
    "fields",
    "_writable_fields",
    "get_field_names",
    "get_extra_kwargs",
)
"""What a serializer overrides to give different callers different fields."""

Sameness = Callable[[type, Iterable[str]], bool]


def body_for_anybody(inspection: Inspection) -> Body:
    """Return the body that one caller or another may send, whatever was written of it.

    The tool tells what people wrote of a body. The view's own code judges a request, so the
    names that it knows besides are taken as well.
    """
    body = body_for_all(inspection)
    if inspection.written is UNSAID:
        return body
    own = inspection.again()
    own.heeds_request = False
    known = attempt(inspection.place, lambda: body_for_all(own), "", [], NONE)
    return CompletedBody(body, known).get_body()


def body_for_all(inspection: Inspection) -> Body:
    """Return the body as each of those may send it for whom it may be another one.

    Where the fields may depend on the caller, they are described for an anonymous one and
    for a superuser; where they may depend on `FLAG`, with it and without, as a request finds
    the view. What only one of them may send is optional.
    """
    known = len(inspection.findings)
    body = body_of(inspection)
    failed = body.kind == "open" and len(inspection.findings) > known
    for other in others(inspection, failed):
        if failed:
            del inspection.findings[known:]
        body, failed = (other if failed else body.union(other)), False
    return body


def body_of(inspection: Inspection) -> Body:
    """Return the body that this caller may send, under the keys that clients use."""
    body = RequestBody(inspection).get_body()
    return inspection.attempt(lambda: Renaming(inspection.view).rename_body(body), RENAMED, body)


def others(inspection: Inspection, failed: bool) -> Iterator[Body]:
    """Yield the body as others may send it than the caller it was described for."""
    if inspection.serializer is None and not failed:
        return
    if failed or depends_on(inspection, is_left_to_frameworks):
        yield from body_for_superuser(inspection)
    if depends_on(inspection, ignores_flag):
        yield from bodies_without_flag(inspection)


def ignores_flag(owner: type, names: Iterable[str]) -> bool:
    return all(is_same_without_flag(owner, name) for name in names)


def depends_on(inspection: Inspection, makes_alike: Sameness) -> bool:
    """Return True if the view may ask for other fields elsewhere.

    Args:
        inspection: of the endpoint.
        makes_alike: tells whether some members of a class give everybody the same.
    """
    return inspection.attempt(lambda: makes_others(inspection, makes_alike), GUARD, False)


def makes_others(inspection: Inspection, makes_alike: Sameness) -> bool:
    """Return True if the view or its serializer has members that do not give all the same."""
    if not makes_alike(type(inspection.view), MAKERS):
        return True
    serializer = inspection.serializer
    return not (serializer is None or SharedDescription(serializer).is_kept) and any(
        isinstance(field, BaseSerializer) and not makes_alike(type(field), FIELD_MAKERS)
        for _, field in walk_fields(serializer)
    )


def body_for_superuser(inspection: Inspection) -> Iterator[Body]:
    """Yield the body as a superuser may send it, nothing if it cannot be described."""
    yield from described_body(inspection.privileged, [])


def bodies_without_flag(inspection: Inspection) -> Iterator[Body]:
    """Yield the bodies that real requests may send: of anybody, and of a superuser."""
    failures: list[Finding] = []
    view = copy.copy(inspection.untouched)
    vars(view).pop(FLAG, None)
    real = inspection.again(view)
    bodies = [body for asked in (real, real.privileged) for body in described_body(asked, failures)]
    if failures and not bodies:
        inspection.find(f"{CHOSEN_BY_FLAG} {failures[0].message}", DECLARE)
    yield from bodies


def described_body(inspection: Inspection, failures: list[Finding]) -> Iterator[Body]:
    """Yield the body of an inspection, nothing if it cannot be described."""
    known = len(inspection.findings)
    body = attempt(inspection.place, lambda: body_of(inspection), "", failures, None)
    if body is not None and body.kind == "open" and len(inspection.findings) > known:
        failures += inspection.findings[known:]
    elif body is not None:
        yield body
