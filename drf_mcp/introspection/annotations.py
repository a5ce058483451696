"""What people wrote about an endpoint for drf-spectacular, if they use it.

Nothing of drf-spectacular is imported here: a view can only carry its annotations where
the project imported it.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from rest_framework.schemas import DefaultSchema
from rest_framework.settings import api_settings

if TYPE_CHECKING:
    from drf_mcp.introspection.spectacular import Annotations


def annotations_of(view: Any, handler_name: str, method: str) -> Annotations | None:
    """Return what was written about one method of an endpoint, None if nothing can be.

    Args:
        view: the view instance, set up as for `describe`.
        handler_name: the name of the method that answers.
        method: the HTTP method in upper case.
    """
    handler = getattr(type(view), handler_name, None)
    own = inspect.getattr_static(type(view), "schema", None)
    if isinstance(own, DefaultSchema):  # stands for the class that the settings name
        own = api_settings.DEFAULT_SCHEMA_CLASS
    written = (getattr(handler, "kwargs", {}).get("schema"), own)
    classes = [s if inspect.isclass(s) else type(s) for s in written if s is not None]
    carried = [schema_class for schema_class in classes if is_spectacular(schema_class)]
    if not carried:
        return None
    from drf_mcp.introspection.spectacular import Annotations

    return Annotations(carried, view, method)


def is_spectacular(schema_class: type) -> bool:
    """Return True for drf-spectacular's schemas, and for what its decorators made of others."""
    return any(base.__module__.startswith("drf_spectacular.") for base in schema_class.__mro__)
