"""The annotations and extensions of drf-spectacular, for views that have its schema class."""

from __future__ import annotations

import copy
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from drf_spectacular.drainage import GENERATOR_STATS, get_override, has_override
from drf_spectacular.extensions import (
    OpenApiFilterExtension,
    OpenApiSerializerExtension,
    OpenApiSerializerFieldExtension,
)
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import (
    ComponentRegistry,
    ResolvedComponent,
    build_basic_type,
    force_instance,
    is_basic_type,
    is_higher_order_type_hint,
    resolve_type_hint,
)
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiRequest, PolymorphicProxySerializer
from rest_framework.fields import Field, empty
from rest_framework.serializers import BaseSerializer, ListSerializer

from drf_mcp.exceptions import attempt
from drf_mcp.introspection.portable import resolve_references
from drf_mcp.introspection.types import UNDECLARED, AnyField, Schema

DECORATORS = "drf_spectacular.utils"
# The registry of components is shared, and drf-spectacular is not safe for threads.
LOCK = threading.RLock()
MEDIA_TYPES = ("application/json", "multipart/form-data", "application/x-www-form-urlencoded")


class SharedRegistry(ComponentRegistry):
    # The components of all endpoints; two serializers of one name get a name each.

    def __contains__(self, component: ResolvedComponent) -> bool:
        name, number = component.name, 2
        while component.key in self._components:
            if _identify(self._components[component.key].object) == _identify(component.object):
                return True
            component.name, number = f"{name}{number}", number + 1
        return False


def _identify(target: Any) -> Any:
    # Instances of one serializer class are one component.
    if not isinstance(target, Field) or isinstance(target, PolymorphicProxySerializer):
        return target
    return type(target)


REGISTRY = SharedRegistry()
# drf-spectacular's own functions have no annotations.
make_instance: Any = force_instance
resolve_hint: Any = resolve_type_hint


class SpectacularAnnotations:
    # What people wrote of a handler. What drf-spectacular infers itself is not used.

    def __init__(self, classes: Sequence[type], view: Any, method: str) -> None:
        self.carried = classes
        # A decorator derives its class from the project's default class, since it does not know the
        # view's. Here the view's class, or AutoSchema, takes the place of the default class.
        nearest, base = classes[0], classes[-1]
        if not issubclass(base, AutoSchema):
            base = AutoSchema
        schema_class: Any = nearest
        if not issubclass(nearest, base):
            own = [c for c in nearest.__mro__ if c.__module__ == DECORATORS]
            mro = [*(c for c in own if c not in base.__mro__), *base.__mro__]
            order = type("Rearranging", (type,), {"mro": lambda cls: [cls, *mro]})
            schema_class = order("Rearranged", (nearest,), {})
        self.schema: Any = schema_class()
        # Annotations may be for one version. drf-spectacular determines the version for each of its
        # questions, and it is known already.
        self.view, request = copy.copy(view), view.request
        version = getattr(request, "version", None), getattr(request, "versioning_scheme", None)
        self.view.determine_version = lambda *args, **kwargs: version
        self.schema.view, self.schema.method, self.schema.registry = self.view, method, REGISTRY
        self.schema.path = self.schema.path_regex = self.schema.path_prefix = "/"

    @property
    def is_deprecated(self) -> bool:
        return bool(attempt(self.schema.is_deprecated, None))

    @property
    def summary(self) -> str:
        return str(attempt(self.schema.get_summary, None) or "")

    @property
    def description(self) -> str:
        own = attempt(self.schema.get_description, None)
        generated = attempt(lambda: AutoSchema.get_description(self.schema), None)
        return str(own) if own and own != generated else ""

    def parameters(self) -> dict[tuple[str, str], Any]:
        """Return OpenAPI parameters by (name, location), None for one that is taken out."""
        with LOCK:
            found = self.schema._process_override_parameters()
        return {key: found[key] and self._convert_parameter(found[key]) for key in found}

    def _convert_parameter(self, declared: Mapping[str, Any]) -> dict[str, Any]:
        return {**declared, "schema": self.convert(declared.get("schema") or {})}

    def filter_parameters(self, backend: Any) -> list[dict[str, Any]] | None:
        """Return what an extension declares of a filter backend or paginator, None without one."""
        extension = OpenApiFilterExtension.get_match(backend)
        if extension is None:
            return None
        with LOCK:
            declared = extension.get_schema_operation_parameters(self.schema)
            return [self._convert_parameter(parameter) for parameter in declared]

    @cached_property
    def _request_serializer(self) -> Any:
        """The serializer that the schema class names for a request."""
        view, schema, own = self.view, copy.copy(self.schema), UNDECLARED
        homes = [b.__module__ for b in type(schema).__mro__ if "get_request_serializer" in vars(b)]
        is_own = any(home.partition(".")[0] != "drf_spectacular" for home in homes)
        if is_own and hasattr(view, "get_serializer"):
            # A schema class of the project's may make its serializer of the view's.
            own = attempt(view.get_serializer, UNDECLARED)
        schema._get_serializer = lambda: own
        declared = schema.get_request_serializer()
        return UNDECLARED if declared is own else declared

    def request(self) -> Any:
        """Return a serializer, a schema, None for no body, or `UNDECLARED`."""
        declared = self._request_serializer
        if isinstance(declared, dict) and any("/" in str(name) for name in declared):
            names = (*MEDIA_TYPES, *declared)
            declared = next(declared[name] for name in names if name in declared)
        if isinstance(declared, OpenApiRequest):
            declared = declared.request
        if declared is UNDECLARED:
            return UNDECLARED
        if declared in (None, OpenApiTypes.NONE):
            return None
        declared = make_instance(declared)
        if isinstance(declared, BaseSerializer):
            target = declared.child if isinstance(declared, ListSerializer) else declared
            written = self.field_schema(target) if isinstance(target, Field) else None
            if written is None:
                return declared
            return {"type": "array", "items": written} if target is not declared else written
        if OpenApiSerializerExtension.get_match(declared) is not None:
            return self._serializer_schema(declared)
        if is_basic_type(declared):
            return self.convert(build_basic_type(declared) or {})
        if is_higher_order_type_hint(declared):
            return self.convert(resolve_hint(declared))
        return self.convert(declared) if isinstance(declared, dict) else UNDECLARED

    def request_examples(self) -> list[Any]:
        """Return the examples of a request of the endpoint, else of its serializer."""
        examples = attempt(self.schema.get_examples, None)
        if not examples:
            request = attempt(lambda: self._request_serializer, None)
            if request is UNDECLARED:
                # drf-spectacular would print an error for a view without a serializer.
                with LOCK, GENERATOR_STATS.silence():
                    request = attempt(self.schema.get_request_serializer, None)
            if isinstance(request, OpenApiRequest):
                request, examples = request.request, request.examples
            target = getattr(request, "child", request)
            examples = examples or get_override(target, "examples", None)
        return [
            example.value
            for example in examples or ()
            if not (example.response_only or example.parameter_only)
            and example.media_type in (None, *MEDIA_TYPES)
            and example.value is not empty
        ]

    def parameter_examples(self) -> dict[tuple[str, str], Any]:
        """Return the examples of parameters by (name, location)."""
        examples = attempt(self.schema.get_examples, None) or ()
        return {e.parameter_only: e.value for e in reversed(examples) if e.parameter_only}

    def field_schema(self, field: AnyField) -> Schema | None:
        if isinstance(field, BaseSerializer):
            matched = OpenApiSerializerExtension.get_match(field) is not None
            return self._serializer_schema(field) if matched else None
        if has_override(field, "field"):
            if get_override(field, "field") is None:
                return None
        elif OpenApiSerializerFieldExtension.get_match(field) is None:
            return None
        with LOCK:
            return self.convert(self.schema._map_serializer_field(field, "request") or {})

    def _serializer_schema(self, serializer: Any) -> Schema:
        with LOCK:
            component = self.schema.resolve_serializer(serializer, "request")
            return self.convert(component.ref if component else {})

    def convert(self, schema: Any) -> Schema:
        with LOCK:
            components = REGISTRY._components.items()
            schemas = {name: component.schema for (name, _), component in components}
            document = {"components": {"schemas": schemas}}
            return _to_json_schema(resolve_references(schema, document))


# --- Schemas of OpenAPI 3.0 as JSON Schema --------------------------------------------------------

# Keywords that JSON Schema does not know, or that say nothing of input.
ANNOTATIONS = frozenset(
    {"nullable", "readOnly", "discriminator", "xml", "externalDocs", "example", "deprecated"}
)
NESTED = ("items", "additionalProperties", "not")
COMBINED = ("allOf", "anyOf", "oneOf")


def _to_json_schema(schema: Any) -> Schema:
    """Return a schema of OpenAPI 3.0 as JSON Schema, without members that are read-only."""
    schema = schema if isinstance(schema, dict) else {}
    made: Schema = {
        name: value
        for name, value in schema.items()
        if name not in ANNOTATIONS and not name.startswith("x-")
    }
    for flag, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        # OpenAPI 3.0 has the bound and a flag.
        if isinstance(made.get(flag), bool) and made.pop(flag) and bound in made:
            made[flag] = made.pop(bound)
    for name in COMBINED:
        if isinstance(made.get(name), list):
            made[name] = list(map(_to_json_schema, made[name]))
    for name in NESTED:
        if isinstance(made.get(name), dict):
            made[name] = _to_json_schema(made[name])
    if isinstance(made.get("properties"), dict):
        made["properties"] = {
            name: _to_json_schema(member)
            for name, member in made["properties"].items()
            if not (isinstance(member, dict) and member.get("readOnly") is True)
        }
        required = made.pop("required", None) or ()
        if required := [name for name in required if name in made["properties"]]:
            made["required"] = required
    if schema.get("nullable") is not True:
        return made
    if "enum" in made and None not in made["enum"]:
        made["enum"] = [*made["enum"], None]
    if isinstance(made.get("type"), str):
        made["type"] = [made["type"], "null"]
    elif any(name in made for name in COMBINED):
        words = {"description": made.pop("description")} if "description" in made else {}
        return {**words, "anyOf": [made, {"type": "null"}]}
    return made
