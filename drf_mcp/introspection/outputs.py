"""Answers: what a view surely gives, as far as only REST framework's own code makes them."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

from django.utils.translation import get_language
from rest_framework.renderers import JSONRenderer
from rest_framework.serializers import BaseSerializer, ListSerializer, Serializer

from drf_mcp.introspection.fields.described import DescribedField
from drf_mcp.introspection.inspection import GUARD, STANDARD, Inspection
from drf_mcp.introspection.query.pagination import get_pages
from drf_mcp.introspection.renaming import Renaming
from drf_mcp.introspection.request_body.declared_class import find_own_hooks
from drf_mcp.introspection.source.handlers import read_handler
from drf_mcp.introspection.source.members import is_drf_code
from drf_mcp.introspection.source.trees import FunctionSource
from drf_mcp.introspection.types import Schema

# Names that a method uses if what it returns may depend on the caller.
CALLER = frozenset({"request", "user", "query_params", "context"})


# What the rows of a serializer class have, in a language: the tools of a view show the same rows.
ROWS: dict[tuple[type, str | None], Schema] = {}
# Where the code of a field may look at the serializer around it.
FIELD_MEMBERS = ("__init__", "__new__", "__deepcopy__", "bind", "choices", "root", "context")
BUILDERS = (
    "build_field",
    "build_standard_field",
    "build_relational_field",
    "build_nested_field",
    "build_property_field",
    "build_url_field",
    "build_unknown_field",
    "include_extra_kwargs",
)


@lru_cache(maxsize=1024)
def is_same_everywhere(serializer_class: Any) -> bool:
    """Return whether REST framework's code alone builds the fields, for any view and caller."""
    if not issubclass(serializer_class, Serializer) or find_own_hooks(serializer_class):
        return False
    own = [name for name in BUILDERS if hasattr(serializer_class, name)]
    if not is_drf_code(serializer_class, *own):
        return False
    return all(map(is_stock_field, serializer_class._declared_fields.values()))


def is_stock_field(field: Any) -> bool:
    inner = getattr(field, "child", None)
    if isinstance(field, Serializer):
        return is_same_everywhere(type(field))
    hooks = [name for name in FIELD_MEMBERS if hasattr(type(field), name)]
    return is_drf_code(type(field), *hooks) and (inner is None or is_stock_field(inner))


class ResponseSchema:
    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.view: Any = inspection.view

    @cached_property
    def renaming(self) -> Renaming:
        return Renaming(self.view)

    def get_schema(self) -> Schema:
        action = self.get_action()
        if action in (None, "destroy") or not self.is_unchanged():
            return {}
        describe = self.describe_list if action == "list" else self.describe_object
        if self.renaming.gives_other_names:
            return self.inspection.attempt(
                lambda: self.renaming.rename_response(describe()), GUARD, {}
            )
        return self.inspection.attempt(describe, GUARD, {})

    def get_action(self) -> str | None:
        view_class, handler_name = type(self.view), self.inspection.handler_name
        if not is_drf_code(view_class, handler_name):
            return None
        used = [name for name in STANDARD if name in (*self.inspection.calls, handler_name)]
        return used[0] if used and is_drf_code(view_class, *used) else None

    def is_unchanged(self) -> bool:
        hooks = ("dispatch", "finalize_response", "get_serializer")
        renders = self.renders_data() or self.renaming.gives_other_names
        return is_drf_code(type(self.view), *hooks) and self.has_one_serializer() and renders

    def has_one_serializer(self) -> bool:
        # A get_serializer_class that looks at the request may answer the next caller by another
        # class, and so may one that asks further methods of the view.
        view_class, name = type(self.view), "get_serializer_class"
        if is_drf_code(view_class, name):
            return True
        reading = read_handler(view_class, name)
        own = [vars(base)[name] for base in view_class.__mro__ if name in vars(base)]
        is_alone = reading is not None and reading.calls <= {name}
        return is_alone and not any(FunctionSource(method).uses_any(CALLER) for method in own)

    def renders_data(self) -> bool:
        # Another renderer may rename the members, or wrap them.
        for renderer_class in self.view.renderer_classes:
            if renderer_class.media_type == "application/json":
                return (
                    issubclass(renderer_class, JSONRenderer)
                    and is_drf_code(renderer_class, "render")
                    and renderer_class.encoder_class is JSONRenderer.encoder_class
                )
        return False

    def describe_object(self) -> Schema:
        return self.describe_data(self.view.get_serializer())

    def describe_list(self) -> Schema:
        rows = self.describe_data(self.view.get_serializer(many=True))
        if not is_drf_code(type(self.view), "paginate_queryset", "get_paginated_response"):
            return {}
        paginator = self.view.paginator
        return rows if paginator is None else get_pages(paginator).get_schema(rows)

    def describe_data(self, serializer: BaseSerializer[Any]) -> Schema:
        if not is_drf_code(type(serializer), "data"):
            return {}
        if type(serializer) is ListSerializer:
            return {"type": "array", "items": self.describe_row(serializer.child)}
        return self.describe_row(serializer)

    def describe_row(self, serializer: Any) -> Schema:
        serializer_class: Any = type(serializer)
        if not is_same_everywhere(serializer_class):
            return DescribedField(serializer).represented_schema
        key = serializer_class, get_language()
        if key not in ROWS:
            ROWS[key] = DescribedField(serializer).represented_schema
        return ROWS[key]
