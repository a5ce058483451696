"""drf-spectacular's annotations and extensions, asked where a view carries them.

Only what people wrote is asked for: our own table describes the rest. Imported only for
a view that carries one of drf-spectacular's schemas.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from drf_spectacular.drainage import get_override, has_override
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
from rest_framework.fields import Field
from rest_framework.serializers import BaseSerializer, ListSerializer

from drf_mcp.introspection.openapi import OpenAPISchema
from drf_mcp.introspection.portable import ReferenceResolver
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.types import UNSAID, AnyField, Schema

DECORATORS = "drf_spectacular.utils"
LOCK = threading.RLock()
MEDIA_TYPES = ("application/json", "multipart/form-data", "application/x-www-form-urlencoded")


class SharedRegistry(ComponentRegistry):
    """The components of all endpoints; two serializers of one name get a name each."""

    def __contains__(self, component: ResolvedComponent) -> bool:
        name, number = component.name, 2
        while component.key in self._components:
            if identity(self._components[component.key].object) == identity(component.object):
                return True
            component.name, number = f"{name}{number}", number + 1
        return False

    def document(self) -> dict[str, Any]:
        """Return the document that references point into."""
        schemas = {name: component.schema for (name, _), component in self._components.items()}
        return {"components": {"schemas": schemas}}


def identity(target: Any) -> Any:
    """Return what makes a component's object the same as another."""
    if not isinstance(target, Field) or isinstance(target, PolymorphicProxySerializer):
        return target
    return type(target)


REGISTRY = SharedRegistry()
# Its own functions have no annotations.
instance_of: Any = force_instance
hinted: Any = resolve_type_hint


def is_own(owner: type) -> bool:
    """Return True for a class of drf-spectacular."""
    return owner.__module__.partition(".")[0] == "drf_spectacular"


def rearranged(classes: Sequence[type]) -> AutoSchema:
    """Return an instance of the first schema class, made a kind of `AutoSchema` if it is none.

    A decorator builds on the project's default class where it cannot see the view's own;
    that one's place is given to the view's, or to `AutoSchema`.

    Args:
        classes: the schema classes that a view carries, the nearest first.
    """
    first, base = classes[0], classes[-1]
    if not issubclass(base, AutoSchema):
        base = AutoSchema
    if issubclass(first, base):
        return first()
    own = [c for c in first.__mro__ if c.__module__ == DECORATORS and c not in base.__mro__]
    order = type("Rearranging", (type,), {"mro": lambda cls: [cls, *own, *base.__mro__]})
    schema: AutoSchema = order("Rearranged", (first,), {})()
    return schema


def asked_once(view: Any) -> Any:
    """Return a copy of a view that knows the version of its request.

    What was written is in force for some versions or for all. A version that only a real
    request names cannot be determined again for each thing that is asked.
    """
    asked = copy.copy(view)
    request = view.request
    known = getattr(request, "version", None), getattr(request, "versioning_scheme", None)
    asked.determine_version = lambda *args, **kwargs: known
    return asked


class Annotations:
    """What people wrote about one method of an endpoint.

    Args:
        classes: the schema classes that the view carries, the nearest first.
        view: the view instance.
        method: the HTTP method in upper case.
    """

    def __init__(self, classes: Sequence[type], view: Any, method: str) -> None:
        schema: Any = rearranged(classes)  # much of what is asked has no annotations
        schema.view = asked_once(view)
        schema.method = method
        schema.path = schema.path_regex = schema.path_prefix = "/"
        schema.registry = REGISTRY
        self.schema = schema
        self.operation = self.written_operation()

    def written_operation(self) -> Mapping[str, Any]:
        """Return the operation of ``@extend_schema(operation={...})``, {} if there is none."""
        asked: Any = copy.copy(self.schema)
        # Without one of its own, get_operation stops at the first thing it asks.
        asked.is_excluded = lambda: True
        operation: Mapping[str, Any] | None = asked.get_operation(
            "/", "/", "/", asked.method, REGISTRY
        )
        return operation or {}

    @property
    def is_deprecated(self) -> bool:
        """True if the endpoint was marked as deprecated."""
        return bool(self.operation.get("deprecated") or self.said(self.schema.is_deprecated))

    @property
    def summary(self) -> str:
        """The short summary, "" if none was written."""
        return str(self.operation.get("summary") or self.said(self.schema.get_summary) or "")

    @property
    def description(self) -> str:
        """The description, "" if none was written."""
        written = self.operation.get("description") or self.said(self.schema.get_description)
        unwritten = self.said(lambda: AutoSchema.get_description(self.schema))
        return str(written) if written and written != unwritten else ""

    def said(self, ask: Callable[[], Any]) -> Any:
        """Return what a method of the schema answers, None if it fails."""
        nothing: Any = None
        return attempt(type(self.schema).__qualname__, ask, "", [], nothing)

    def filters(self) -> bool | None:
        """Return whether the endpoint was said to filter; None if that was not written."""
        if not getattr(self.schema.view, "filter_backends", None):
            return None
        asked: Any = copy.copy(self.schema)
        answers = []
        # What holds for a list and for a single object alike was written down.
        for lists in (True, False):
            asked._is_list_view = lambda *args, lists=lists: lists
            answers.append(bool(asked.get_filter_backends()))
        return answers[0] if answers[0] == answers[1] else None

    def parameters(self) -> dict[tuple[str, str], Any]:
        """Return OpenAPI parameters by (name, location); None for one that was taken out."""
        if "parameters" in self.operation:
            declared = self.operation["parameters"]
            return {(p["name"], p["in"]): self.with_schema(p) for p in declared if "name" in p}
        with LOCK:
            found = self.schema._process_override_parameters()
        return {key: found[key] and self.with_schema(found[key]) for key in found}

    def with_schema(self, declared: Mapping[str, Any]) -> dict[str, Any]:
        """Return an OpenAPI parameter with its schema as plain JSON Schema."""
        return {**declared, "schema": self.plain(declared.get("schema") or {})}

    def filter_parameters(self, backend: Any) -> list[dict[str, Any]] | None:
        """Return what an extension says of a filter backend or paginator, None without one."""
        extension = OpenApiFilterExtension.get_match(backend)
        if extension is None:
            return None
        with LOCK:
            return [
                self.with_schema(p) for p in extension.get_schema_operation_parameters(self.schema)
            ]

    def request(self) -> Any:
        """Return what was written to be the request: a serializer, a schema, None for nothing.

        `UNSAID` if nothing was written.
        """
        if self.operation:
            content = self.operation.get("requestBody", {}).get("content", {})
            chosen = by_media_type(content)
            return None if chosen is None else self.plain(chosen.get("schema", {}))
        asked: Any = copy.copy(self.schema)
        own = self.own_serializer()
        asked._get_serializer = lambda: own
        written = asked.get_request_serializer()
        if isinstance(written, dict) and any("/" in str(name) for name in written):
            written = by_media_type(written)
        if isinstance(written, OpenApiRequest):
            written = written.request
        if written is own:
            return UNSAID
        return None if written in (None, OpenApiTypes.NONE) else self.request_of(written)

    def own_serializer(self) -> Any:
        """Return the view's serializer, for a project's schema class that makes another of it."""
        view, name = self.schema.view, "get_request_serializer"
        owners = [base for base in type(self.schema).__mro__ if name in vars(base)]
        if not hasattr(view, "get_serializer") or all(map(is_own, owners)):
            return UNSAID
        return attempt(type(view).__qualname__, view.get_serializer, "", [], UNSAID)

    def request_of(self, written: Any) -> Any:
        """Return a serializer instance for one, the schema of anything else."""
        written = instance_of(written)
        if isinstance(written, BaseSerializer):
            target = written.child if isinstance(written, ListSerializer) else written
            if not isinstance(target, Field) or self.field_schema(target) is None:
                return written
            schema = self.field_schema(target)
            return {"type": "array", "items": schema} if target is not written else schema
        if OpenApiSerializerExtension.get_match(written) is not None:  # whatever it is itself
            return self.serializer_schema(written)
        if is_basic_type(written):
            return self.plain(build_basic_type(written) or {})
        if is_higher_order_type_hint(written):
            return self.plain(hinted(written))
        return self.plain(written) if isinstance(written, dict) else UNSAID

    def field_schema(self, field: AnyField) -> Schema | None:
        """Return what was written of a field's input by decorator or extension, else None."""
        if isinstance(field, BaseSerializer):
            matched = OpenApiSerializerExtension.get_match(field) is not None
            return self.serializer_schema(field) if matched else None
        written = has_override(field, "field")
        if not written and OpenApiSerializerFieldExtension.get_match(field) is None:
            return None
        if written and get_override(field, "field") is None:
            return None
        with LOCK:
            return self.plain(self.schema._map_serializer_field(field, "request") or {})

    def serializer_schema(self, serializer: Any) -> Schema:
        """Return what drf-spectacular makes of a serializer, or of what stands for one."""
        with LOCK:
            component = self.schema.resolve_serializer(serializer, "request")
            return self.plain(component.ref if component else {})

    def plain(self, schema: Any) -> Schema:
        """Return a schema of OpenAPI 3.0 as JSON Schema, its references put in place."""
        with LOCK:
            resolved = ReferenceResolver(REGISTRY.document()).resolve(schema)
            return OpenAPISchema(resolved).to_json_schema()


def by_media_type(content: Mapping[str, Any]) -> Any:
    """Return what stands under the media type that a call would be sent in."""
    return next((content[name] for name in (*MEDIA_TYPES, *content) if name in content), None)
