"""Request bodies: the serializer that takes them, and its fields."""

from __future__ import annotations

import copy
from typing import Any

from rest_framework.fields import FileField
from rest_framework.parsers import FileUploadParser, FormParser, JSONParser, MultiPartParser
from rest_framework.serializers import BaseSerializer, ListSerializer, Serializer

from drf_mcp.schemas.attempts import attempt
from drf_mcp.schemas.fields import input_schema
from drf_mcp.schemas.handlers import SerializerCall, read
from drf_mcp.schemas.handling import handling_of
from drf_mcp.schemas.inspection import ANNOTATE, GUARD, Inspection
from drf_mcp.schemas.serializers import is_required, together, writable
from drf_mcp.schemas.shared import shared
from drf_mcp.schemas.stock import is_stock
from drf_mcp.schemas.values import (
    PLAIN,
    UNSAID,
    AnyField,
    Body,
    Finding,
    Handling,
    Parameter,
    Parameters,
    Schema,
)
from drf_mcp.schemas.words import explain
from drf_mcp.schemas.written import written_body

NONE = Body("none")
OPEN = Body("open", schema={})
FIELD_PARSERS = (JSONParser, FormParser, MultiPartParser)
"""Parsers of bodies that have named fields."""

MULTIPART = "Add rest_framework.parsers.MultiPartParser to the view's parser_classes."
DECLARE = (
    "Give the view a serializer_class, or construct a serializer with data=request.data in"
    " the handler itself."
)


def request_body(inspection: Inspection) -> Body:
    """Return the body that the handler takes: what people wrote of it, or what it reads."""
    if inspection.method not in ("POST", "PUT", "PATCH", "DELETE"):
        return NONE
    written = written_request(inspection)
    if written is UNSAID:
        body = unwritten_body(inspection)
    elif isinstance(written, BaseSerializer):
        body = serializer_body(inspection, in_context(written, inspection.view))
    else:
        body = NONE if written is None else written_body(inspection, written)
    require_multipart(inspection, body)
    return body


def written_request(inspection: Inspection) -> Any:
    """Return what people wrote to be the request; `UNSAID` if they wrote nothing."""
    if inspection.annotations is None:
        return UNSAID
    return inspection.attempt(inspection.annotations.request, ANNOTATE, UNSAID)


def unwritten_body(inspection: Inspection) -> Body:
    """Return the body that a view takes of which nothing was written down."""
    if takes_nothing(inspection):
        return NONE
    return whole_file() if reads_whole_file(inspection.view) else read_body(inspection)


def reads_whole_file(view: Any) -> bool:
    """Return True if a view's parsers read nothing but one file, sent as it is."""
    parsers = getattr(view, "parser_classes", ())
    raw = any(issubclass(parser, FileUploadParser) for parser in parsers)
    return raw and not any(takes(parsers, other) for other in FIELD_PARSERS)


def whole_file() -> Body:
    """Return the body that is one file, under the name that REST framework's parser gives it."""
    field: Any = FileField()
    field.field_name = "file"
    handling = handling_of(field, takes_json=False)
    return Body("object", fields=(Parameter("file", input_schema(field), True, handling=handling),))


def read_body(inspection: Inspection) -> Body:
    """Return the body that the handler is seen to read."""
    serializer = input_serializer(inspection)
    return OPEN if serializer is None else serializer_body(inspection, serializer)


def serializer_body(inspection: Inspection, serializer: Any) -> Body:
    """Return the body that a serializer reads in the method at hand."""
    if inspection.method == "PATCH":
        make_partial(serializer)
    inspection.serializer = serializer
    return inspection.attempt(lambda: described(inspection, serializer), GUARD, OPEN)


def in_context(serializer: Any, view: Any) -> Any:
    """Return a copy of a serializer that people wrote down, in the view's context."""
    own: Any = copy.deepcopy(serializer)
    own._context = context_of(view)
    return own


def context_of(view: Any) -> dict[str, Any]:
    """Return the context that a view gives its serializers."""
    if hasattr(view, "get_serializer_context"):
        return {"view": view, **view.get_serializer_context()}
    return {"view": view, "request": getattr(view, "request", None)}


def require_multipart(inspection: Inspection, body: Body) -> None:
    """Find fault with a view that takes files but cannot read them off a request."""
    handled = [body.handling, *(parameter.handling for parameter in body.fields)]
    parsers = getattr(inspection.view, "parser_classes", ())
    readable = takes(parsers, MultiPartParser) or reads_whole_file(inspection.view)
    if any(h.uploads for h in handled) and not readable:
        inspection.find("The view takes files but has no parser for them", MULTIPART)


def takes(parsers: Any, parser_class: type) -> bool:
    """Return True if one of some parsers reads what a stock parser reads."""
    media_type = getattr(parser_class, "media_type", None)
    return any(issubclass(p, parser_class) or p.media_type == media_type for p in parsers)


def takes_nothing(inspection: Inspection) -> bool:
    """Return True if the handler takes no body.

    A DELETE takes one only if it is seen to read it. An extra action takes none if
    nothing in its source can read it: it must not ask for the fields of a serializer
    that it merely inherits, or uses only to answer.
    """
    reading = inspection.reading
    if inspection.method == "DELETE":
        return reading is None or not reading.reads_body
    return inspection.is_extra_action and reading is not None and reading.ignores_body


def input_serializer(inspection: Inspection) -> Any:
    """Return the serializer that reads the body, None (and a finding) if none is known."""
    call = constructed(inspection)
    if call is not None and call.serializer_class is not None:
        return inspection.attempt(lambda: instantiated(inspection.view, call), GUARD, None)
    if call is not None and call.many:
        return inspection.attempt(lambda: inspection.view.get_serializer(many=True), GUARD, None)
    if call is not None or inherits_serializer(inspection):
        return view_serializer(inspection)
    if inspection.reading is None or not inspection.reading.ignores_body:
        inspection.find("The handler reads its body without a known serializer", DECLARE)
    return None


def constructed(inspection: Inspection) -> SerializerCall | None:
    """Return the one serializer the handler constructs from ``request.data``."""
    calls = inspection.reading.serializer_calls if inspection.reading is not None else ()
    return next(iter(calls)) if len(calls) == 1 else None


def inherits_serializer(inspection: Inspection) -> bool:
    """Return True if the view's serializer stands for the body without being seen to read it.

    It does for the standard actions and methods of a view that has one, and for an extra
    action that names one itself. Any other use of the body by an extra action, or by a
    DELETE, has its own shape.
    """
    view = inspection.view
    if inspection.is_extra_action:
        return "serializer_class" in vars(view)
    has_serializer = hasattr(view, "get_serializer") or hasattr(view, "serializer_class")
    return inspection.method != "DELETE" and has_serializer


def instantiated(view: Any, call: SerializerCall) -> Any:
    """Return the serializer a handler constructs, in the view's own context."""
    options = {"many": True} if call.many else {}
    serializer_class: Any = call.serializer_class
    return serializer_class(context=context_of(view), **options)


def view_serializer(inspection: Inspection) -> Any:
    """Return the view's serializer by the first way that works.

    The ways from best to worst: what the view makes itself, with its context; the class it
    would choose; the class it declares. Failures are reported only if none works.
    """
    view = inspection.view
    ways = (
        lambda: view.get_serializer(),
        lambda: view.get_serializer_class()(),
        lambda: view.serializer_class(),
    )
    failures: list[Finding] = []
    for way in ways:
        serializer = attempt(inspection.place, way, f"{GUARD} Or: {DECLARE}", failures, None)
        if serializer is not None:
            return serializer
    inspection.findings += failures[:1]
    return None


def make_partial(serializer: Any) -> None:
    """Turn a serializer, and the one inside a list, into those of a partial update."""
    serializer.partial = True
    if isinstance(serializer, ListSerializer):
        make_partial(serializer.child)


def described(inspection: Inspection, serializer: Any) -> Body:
    """Return the body that a serializer reads."""
    if isinstance(serializer, ListSerializer):
        schema = inspection.shaped({"type": "array", **input_schema(serializer)})
        return Body("list", schema=schema, handling=handled(inspection, serializer))
    if not isinstance(serializer, Serializer):
        inspection.find("The serializer declares no fields", "Derive it from Serializer.")
        return OPEN
    name = type(serializer).__name__
    if is_stock(type(serializer), "to_internal_value", "run_validation"):
        return Body("object", fields=members(inspection, serializer))
    if keeps_names(type(serializer)):
        return Body("object", fields=names(inspection, serializer))
    inspection.find(f"{name} reads its input itself", "Call super() in to_internal_value().")
    return OPEN


def keeps_names(serializer_class: type) -> bool:
    """Return True if a serializer with its own way to read input still reads its fields."""
    for method in ("to_internal_value", "run_validation"):
        if not is_stock(serializer_class, method):
            reading = read(serializer_class, method)
            if reading is None or method not in reading.calls:
                return False
    return True


def names(inspection: Inspection, serializer: Any) -> Parameters:
    """Return the fields of a serializer by name alone: it may take more than they say."""
    return tuple(
        Parameter(name, {}, handling=handled(inspection, field))
        for name, field in writable(serializer).items()
    )


def members(inspection: Inspection, serializer: Any) -> Parameters:
    """Return the fields of a serializer, described once for all endpoints if that is sound."""
    if inspection.annotations is not None:
        return own_members(inspection, serializer)
    manner = ("input", serializer.partial, inspection.portable, reads_json(inspection))
    return shared(
        serializer, manner, lambda: own_members(inspection, serializer), inspection.findings
    )


def own_members(inspection: Inspection, serializer: Any) -> Parameters:
    """Return the fields of a serializer, each described on its own guard."""
    remarks: dict[str, str] = {}
    remarks = inspection.attempt(lambda: together(serializer), GUARD, remarks)
    return tuple(
        Parameter(
            name,
            member(inspection, field, remarks.get(name, "")),
            is_required(field),
            handling=handled(inspection, field),
        )
        for name, field in writable(serializer).items()
    )


def member(inspection: Inspection, field: AnyField, remark: str) -> Schema:
    """Return the schema of one field of the body, open if the field cannot be described."""
    remedy = f"Let the field {field.field_name!r} be built without a caller. {GUARD}"
    return inspection.attempt(
        lambda: inspection.shaped(explain(input_schema(field), remark)), remedy, {}
    )


def handled(inspection: Inspection, field: AnyField) -> Handling:
    """Return what has to be known of a field's values beside their schema."""
    takes_json = reads_json(inspection)
    return inspection.attempt(lambda: handling_of(field, takes_json=takes_json), GUARD, PLAIN)


def reads_json(inspection: Inspection) -> bool:
    """Return True if the view reads JSON bodies."""
    return takes(getattr(inspection.view, "parser_classes", ()), JSONParser)
