"""Answers: what a view surely gives, as far as only stock code makes them."""

from __future__ import annotations

from typing import Any

from rest_framework.renderers import JSONRenderer
from rest_framework.serializers import BaseSerializer, ListSerializer

from drf_mcp.introspection.fields.described import DescribedField
from drf_mcp.introspection.fields.shared import SharedDescription
from drf_mcp.introspection.inspection import GUARD, STANDARD, Inspection
from drf_mcp.introspection.query.pagination import get_pages
from drf_mcp.introspection.renaming import Renaming
from drf_mcp.introspection.source.handlers import read_handler
from drf_mcp.introspection.source.overrides import is_drf_code
from drf_mcp.introspection.source.trees import FunctionSource
from drf_mcp.introspection.types import Schema

CALLER = frozenset({"request", "user", "query_params", "context"})
"""Names that a method mentions if what it returns may depend on the caller."""


def response_schema(inspection: Inspection) -> Schema:
    """Return the schema of the success payload, ``{}`` unless stock code alone makes it."""
    operation = stock_operation(inspection)
    if operation in (None, "destroy") or not answers_plainly(inspection.view):
        return {}
    make = listed if operation == "list" else single
    view = inspection.view
    renaming = Renaming(view)
    if renaming.gives_other_names:
        return inspection.attempt(lambda: renaming.output(make(view)), GUARD, {})
    return inspection.attempt(lambda: make(view), GUARD, {})


def stock_operation(inspection: Inspection) -> str | None:
    """Return the standard action that answers, None if a project's own code does."""
    view_class = type(inspection.view)
    if not is_drf_code(view_class, inspection.handler_name):
        return None
    used = [name for name in STANDARD if name in (*inspection.calls, inspection.handler_name)]
    return used[0] if used and is_drf_code(view_class, *used) else None


def answers_plainly(view: Any) -> bool:
    """Return True if nothing between the serializer and the wire reshapes the answer."""
    stock = is_drf_code(type(view), "dispatch", "finalize_response", "get_serializer")
    plain = renders_plainly(view) or Renaming(view).gives_other_names
    return stock and chooses_for_everyone(view) and plain


def chooses_for_everyone(view: Any) -> bool:
    """Return True if every caller is answered by the same serializer class.

    A `get_serializer_class` that looks at the request may answer the next caller by
    another one, and so may one that asks further methods of the view.
    """
    name = "get_serializer_class"
    if is_drf_code(type(view), name):
        return True
    reading = read_handler(type(view), name)
    own = [vars(base)[name] for base in type(view).__mro__ if name in vars(base)]
    alone = reading is not None and reading.calls <= {name}
    return alone and not any(FunctionSource(function).uses_any(CALLER) for function in own)


def renders_plainly(view: Any) -> bool:
    """Return True if the JSON is the data as it is, not renamed or wrapped by a renderer."""
    for renderer_class in view.renderer_classes:
        if renderer_class.media_type == "application/json":
            return (
                issubclass(renderer_class, JSONRenderer)
                and is_drf_code(renderer_class, "render")
                and renderer_class.encoder_class is JSONRenderer.encoder_class
            )
    return False


def single(view: Any) -> Schema:
    """Return the schema of one object."""
    return serialized(view.get_serializer())


def listed(view: Any) -> Schema:
    """Return the schema of a list, or of a page of it."""
    rows = serialized(view.get_serializer(many=True))
    if not is_drf_code(type(view), "paginate_queryset", "get_paginated_response"):
        return {}
    return rows if view.paginator is None else get_pages(view.paginator).get_schema(rows)


def serialized(serializer: BaseSerializer[Any]) -> Schema:
    """Return the schema of a serializer's data."""
    if not is_drf_code(type(serializer), "data"):
        return {}
    if type(serializer) is ListSerializer:
        return {"type": "array", "items": row(serializer.child)}
    return row(serializer)


def row(serializer: Any) -> Schema:
    """Return the schema of what a serializer makes of one object."""
    return SharedDescription(serializer).get(
        "output", lambda: DescribedField(serializer).represented_schema
    )
