"""Path kwargs: their types from converters, patterns, versions and models."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from django.urls import converters
from rest_framework.versioning import NamespaceVersioning, URLPathVersioning

from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.fields.model_fields import ModelValue
from drf_mcp.introspection.inspection import GUARD, Inspection
from drf_mcp.introspection.openapi import parameter as openapi_parameter
from drf_mcp.introspection.patterns import is_ecmascript
from drf_mcp.introspection.query.parameters import VersionParameter
from drf_mcp.introspection.source.handlers import read_handler
from drf_mcp.introspection.source.overrides import is_drf_code
from drf_mcp.introspection.text import model_name, text
from drf_mcp.introspection.types import (
    PLAIN,
    Handling,
    Parameter,
    Parameters,
    PathKwarg,
    PathKwargs,
    Relation,
    Schema,
)

__all__ = ["PathKwarg", "path_parameters"]

STRING: Schema = {"type": "string"}
DIGITS = frozenset({r"\d+", "[0-9]+", r"[\d]+"})
ANYTHING = frozenset({"[^/.]+", "[^/]+", ".+", ".*", "[^/.]*", "[^/]*", r"[^\/.]+"})
PARENT = re.compile(r"parent_lookup_(?P<lookup>\w+)|(?P<name>\w+)_(?:pk|id)")

CONVERTERS: dict[type, Schema] = {
    converters.IntConverter: {"type": "integer", "minimum": 0},
    converters.UUIDConverter: {**STRING, "format": "uuid"},
    converters.SlugConverter: {**STRING, "pattern": "^[-a-zA-Z0-9_]+$"},
    converters.PathConverter: {**STRING, "description": "May contain slashes"},
}


def path_parameters(inspection: Inspection, kwargs: PathKwargs) -> Parameters:
    """Return a required parameter for each path kwarg."""
    written = inspection.get_declared_parameters("path")
    if "pk" in kwargs and "id" not in kwargs and "id" in written:
        # By this name drf-spectacular shows it.
        written.setdefault("pk", written["id"])
    return tuple(
        Parameter(
            kwarg.name,
            inspection.attempt(
                partial(kwarg_schema, inspection, kwarg, written.get(kwarg.name)),
                GUARD,
                dict(STRING),
            ),
            required=True,
            handling=inspection.attempt(partial(related, inspection, kwarg), GUARD, PLAIN),
        )
        for kwarg in kwargs.values()
    )


def related(inspection: Inspection, kwarg: PathKwarg) -> Handling:
    """Return what a parent's kwarg identifies."""
    field = parent_field(inspection.model, kwarg)
    model = getattr(field, "related_model", None)
    return PLAIN if model is None else Handling(relations={(): Relation(model, "pk")})


def kwarg_schema(inspection: Inspection, kwarg: PathKwarg, written: Any) -> Schema:
    """Return the schema of one kwarg: what people wrote of it, or what its route and view say."""
    if written is not None:
        return inspection.shaped(openapi_parameter(written).schema)
    return inspection.shaped(described(inspection, kwarg))


def described(inspection: Inspection, kwarg: PathKwarg) -> Schema:
    """Return what the route says of a kwarg, and what the kwarg names."""
    if is_version(inspection.view, kwarg):
        return VersionParameter(inspection.view).get_schema()
    routed = route_schema(kwarg)
    named = named_schema(inspection, kwarg)
    words = named.pop("description", "")
    # A route that takes digits only, or a model whose key is a number, settles the type.
    if routed.get("type") == "integer":
        return explain(routed, words)
    if named.get("type", "string") != "string":
        return explain(named, words)
    return explain({**STRING, **named, **routed}, words)


def is_version(view: Any, kwarg: PathKwarg) -> bool:
    """Return True for the API version in the path."""
    versioning = getattr(view, "versioning_class", None)
    return (
        isinstance(versioning, type)
        and issubclass(versioning, (URLPathVersioning, NamespaceVersioning))
        and kwarg.name == versioning.version_param
    )


def route_schema(kwarg: PathKwarg) -> Schema:
    """Return what the route itself says of a kwarg."""
    if type(kwarg.converter) in CONVERTERS:
        return dict(CONVERTERS[type(kwarg.converter)])
    pattern = kwarg.pattern or getattr(kwarg.converter, "regex", None)
    if pattern is None or pattern in ANYTHING:
        return {}
    if pattern in DIGITS:
        return {"type": "integer", "minimum": 0}
    anchored = f"^(?:{pattern})$"
    return {**STRING, "pattern": anchored} if is_ecmascript(anchored) else {}


def named_schema(inspection: Inspection, kwarg: PathKwarg) -> Schema:
    """Return what the view's model says of a kwarg, ``{}`` if it names none of its fields."""
    field = named_field(inspection.view, kwarg, inspection.model)
    if names_own_row(inspection.view, kwarg):
        return explained(inspection.model, field) if looks_up(inspection) else {}
    return explained(getattr(field, "related_model", None) or inspection.model, field)


def named_field(view: Any, kwarg: PathKwarg, model: Any) -> Any:
    """Return the field of a view's model that a kwarg names, None if it names none."""
    if names_own_row(view, kwarg):
        return ModelValue.at(model, view.lookup_field).field
    return parent_field(model, kwarg)


def names_own_row(view: Any, kwarg: PathKwarg) -> bool:
    """Return True for the kwarg that a view looks its own row up by."""
    lookup_field = getattr(view, "lookup_field", None)
    named = getattr(view, "lookup_url_kwarg", None) or lookup_field
    return bool(lookup_field) and kwarg.name == named


def parent_field(model: Any, kwarg: PathKwarg) -> Any:
    """Return the field of a model that a parent's kwarg names, None if it names none."""
    parent = PARENT.fullmatch(kwarg.name)
    if parent is None or model is None:
        return None
    return ModelValue.at(model, parent["lookup"] or parent["name"]).field


def looks_up(inspection: Inspection) -> bool:
    """Return True if the lookup kwarg selects an object of the view's own model.

    In a list route the same name can be another model's key, and a view with its own
    `get_object` can do anything with it unless it calls the inherited one.
    """
    view = inspection.view
    if not getattr(view, "detail", False) and "get_object" not in inspection.calls:
        return False
    if is_drf_code(type(view), "get_object"):
        return True
    own = read_handler(type(view), "get_object")
    return own is not None and "get_object" in own.calls


def explained(model: Any, field: Any) -> Schema:
    """Return the schema of a model field with what it identifies in words."""
    if field is None or model is None:
        return {}
    relation = getattr(field, "remote_field", None) is not None
    name = "Primary key" if relation or field.primary_key else text(field.verbose_name)
    words = f"{name[:1].upper()}{name[1:]} of the {model_name(model)}"
    return explain(
        ModelValue(field).input_schema or STRING, text(getattr(field, "help_text", "")) or words
    )
