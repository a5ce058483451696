"""What people wrote about an endpoint for drf-spectacular, if they use it.

Nothing of drf-spectacular is imported here: a view can only carry its annotations where
the project imported it.
"""

from __future__ import annotations

import inspect
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from drf_mcp.schemas.values import AnyField, Schema

if TYPE_CHECKING:
    from drf_mcp.schemas.spectacular import Annotations

UNSAID: Any = object()
"""Stands for what nobody wrote."""

CURRENT: ContextVar[Annotations | None] = ContextVar("drf_mcp_annotations", default=None)
"""The annotations of the endpoint being described."""


def annotations_of(view: Any, handler_name: str, method: str) -> Annotations | None:
    """Return what was written about one method of an endpoint, None if nothing can be.

    Args:
        view: the view instance, set up as for `describe`.
        handler_name: the name of the method that answers.
        method: the HTTP method in upper case.
    """
    handler = getattr(type(view), handler_name, None)
    written = (
        getattr(handler, "kwargs", {}).get("schema"),
        inspect.getattr_static(type(view), "schema", None),
    )
    classes = [s if inspect.isclass(s) else type(s) for s in written if s is not None]
    carried = [schema_class for schema_class in classes if is_spectacular(schema_class)]
    if not carried:
        return None
    from drf_mcp.schemas.spectacular import Annotations

    return Annotations(carried, view, method)


def is_spectacular(schema_class: type) -> bool:
    """Return True for drf-spectacular's schemas, and for what its decorators made of others."""
    return any(base.__module__.startswith("drf_spectacular.") for base in schema_class.__mro__)


def declared_input(field: AnyField) -> Schema | None:
    """Return the schema that was written for what a field takes, None if there is none."""
    annotations = CURRENT.get()
    return None if annotations is None else annotations.field_schema(field)


def hidden_fields(serializer: Any) -> frozenset[str]:
    """Return the names of the fields that ``@extend_schema_serializer`` leaves out."""
    if CURRENT.get() is None:
        return frozenset()
    return frozenset(getattr(serializer, "_spectacular_annotation", {}).get("exclude_fields", ()))
