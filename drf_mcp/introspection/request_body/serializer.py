"""The serializer that reads a body."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from rest_framework.serializers import BaseSerializer

from drf_mcp.introspection.fields.serializers import FieldNode
from drf_mcp.introspection.inspection import GUARD, Inspection
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.source.handlers import SerializerCall
from drf_mcp.introspection.text import listing
from drf_mcp.introspection.types import Finding

DECLARE = (
    "Give the view a serializer_class, or construct a serializer with data=request.data in"
    " the handler itself."
)


def input_serializer(inspection: Inspection, call: SerializerCall | None) -> Any:
    """Return the serializer that reads the body, None (and a finding) if none is known."""
    if call is not None and call.serializer_class is not None:
        return inspection.attempt(lambda: instantiated(inspection.view, call), GUARD, None)
    if call is not None and call.many:
        return inspection.attempt(lambda: inspection.view.get_serializer(many=True), GUARD, None)
    if call is not None or inherits_serializer(inspection):
        return view_serializer(inspection)
    if inspection.reading is None or not inspection.reading.ignores_body:
        inspection.find("The handler reads its body without a known serializer.", DECLARE)
    return None


def constructed(inspection: Inspection) -> SerializerCall | None:
    """Return the one serializer the handler constructs from ``request.data``.

    Constructed of one object here and of a list there, it may read either.
    """
    calls = list(inspection.reading.serializer_calls if inspection.reading is not None else ())
    if len({(call.serializer_class, call.attribute) for call in calls}) != 1:
        return None
    partial, many = {call.partial for call in calls}, {call.many for call in calls}
    return replace(
        calls[0],
        partial=partial.pop() if len(partial) == 1 else None,
        many=many.pop() if len(many) == 1 else None,
    )


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
    own = getattr(view, call.attribute) if call.attribute else call.serializer_class
    serializer_class: Any = own
    return serializer_class(context=context_of(view), **options)


def of_rows(view: Any, call: SerializerCall) -> Any:
    """Return the serializer that a handler constructs for a list."""
    if call.serializer_class is None:
        return view.get_serializer(many=True)
    return instantiated(view, replace(call, many=True))


def view_serializer(inspection: Inspection) -> Any:
    """Return the view's serializer by the first way that works.

    The ways from best to worst: what the view makes itself, with its context; the class it
    would choose, with what there is of a context and without; the class it declares. Failures
    are reported only if none works.
    """
    view = inspection.view
    ways = (
        lambda: view.get_serializer(),
        lambda: view.get_serializer_class()(context=context_of(view)),
        lambda: view.get_serializer_class()(),
        lambda: view.serializer_class(context=context_of(view)),
        lambda: view.serializer_class(),
    )
    failures: list[Finding] = []
    for way in ways:
        serializer = attempt(inspection.place, way, f"{GUARD} Or: {DECLARE}", failures, None)
        if serializer is not None:
            return serializer
    inspection.findings += failures[:1]
    return None


def in_context(serializer: Any, view: Any) -> Any:
    """Return a copy of a serializer that people wrote down, in the view's context."""
    own: Any = copy.deepcopy(serializer)
    own._context = context_of(view)
    return own


def context_of(view: Any) -> dict[str, Any]:
    """Return the context that a view gives its serializers."""
    stock = {"view": view, "request": getattr(view, "request", None)}
    if not hasattr(view, "get_serializer_context"):
        return stock
    # One that needs a caller leaves REST framework's own context, which most fields can do with.
    own: dict[str, Any] = {}
    return {**stock, **attempt("", view.get_serializer_context, "", [], own)}


def meant_for(inspection: Inspection) -> str:
    """Return the members of a serializer that cannot be made without a caller, in words.

    They are those of its class, as if it left the making to REST framework.
    """
    chosen = attempt("", lambda: inspection.view.get_serializer_class(), "", [], None)
    serializer_class: Any = chosen or getattr(inspection.view, "serializer_class", None)
    if not inherits_serializer(inspection) or serializer_class is None:
        return ""
    plain = type("Plain", (serializer_class,), {"__init__": BaseSerializer.__init__})
    names = attempt("", lambda: listing(FieldNode(plain()).listed), "", [], "")
    return f"Meant to be an object with {names}" if names else ""
