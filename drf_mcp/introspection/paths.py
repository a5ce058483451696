"""The kwargs of a route: what they identify, their parameters, and placeholders for them."""

from __future__ import annotations

import re
import uuid
from functools import cached_property, partial
from typing import Any

from django.db import models
from django.urls import converters
from django.utils.text import capfirst
from rest_framework.versioning import (
    NamespaceVersioning,
    QueryParameterVersioning,
    URLPathVersioning,
)

from drf_mcp.exceptions import attempt
from drf_mcp.introspection.field_schema import FieldSchema, explain
from drf_mcp.introspection.inspection import (
    RETURN_EARLY,
    Inspection,
    find_declared_model,
)
from drf_mcp.introspection.model_fields import (
    describe_input,
    drop_comparison,
    find_model_field,
    find_shown_name,
)
from drf_mcp.introspection.names import translate_pattern
from drf_mcp.introspection.read_members import find_member_info
from drf_mcp.introspection.source.members import is_drf_code
from drf_mcp.introspection.source.readings import read_handler
from drf_mcp.introspection.source.values import PATH
from drf_mcp.introspection.text import clean_text, find_model_name
from drf_mcp.introspection.types import (
    Parameter,
    Parameters,
    PathKwarg,
    PathKwargs,
    Relation,
    Schema,
    ValueInfo,
    ValueInfos,
)

PARENT = re.compile(r"parent_lookup_(?P<lookup>\w+)|(?P<name>\w+)_(?:pk|id)")
ZERO, ZERO_UUID, WORD = "0", str(uuid.UUID(int=0)), "placeholder"


class NamedKwarg:
    def __init__(self, view: Any, kwarg: PathKwarg, model: Any) -> None:
        self.view = view
        self.kwarg = kwarg
        self.model = model

    @property
    def is_version(self) -> bool:
        versioning = getattr(self.view, "versioning_class", None)
        return (
            isinstance(versioning, type)
            and issubclass(versioning, (URLPathVersioning, NamespaceVersioning))
            and self.kwarg.name == versioning.version_param
        )

    @property
    def names_own_row(self) -> bool:
        lookup_field = getattr(self.view, "lookup_field", None)
        name = getattr(self.view, "lookup_url_kwarg", None) or lookup_field
        return bool(lookup_field) and self.kwarg.name == name

    def says(self, key: str | None, owner: str) -> bool:
        # Whether the kwarg's name names this key of this model; None is the primary key.
        name = self.kwarg.name.lower().removeprefix("parent_lookup_")
        if key is None and not re.search(r"(?:^|_)(?:pk|id|primary_key)\Z", name):
            return False
        return set(f"{key or ''} {owner}".lower().split()) <= set(name.split("_"))

    @property
    def field(self) -> Any:
        path = drop_comparison(self.view.lookup_field) if self.names_own_row else self.parent_path
        return find_model_field(self.model, path) if path else None

    @property
    def parent_relation(self) -> Any:
        """The relation to the object that the kwarg identifies; None where it is not known."""
        field = find_model_field(self.model, self.parent_path.partition("__")[0])
        return field if getattr(field, "related_model", None) is not None else None

    @cached_property
    def parent_path(self) -> str:
        if self.model is None:
            return ""
        if parent := PARENT.fullmatch(self.kwarg.name):
            return parent["lookup"] or parent["name"]
        # Nested routers name a kwarg after the parent and the lookup field of the parent's view.
        words = self.kwarg.name.split("_")
        for length in range(len(words) - 1, 0, -1):
            path = f"{'_'.join(words[:length])}__{'_'.join(words[length:])}"
            if find_model_field(self.model, path) is not None:
                return path
        return ""

    def find_placeholder(self) -> Any:
        # A value of the key's type, with which a queryset can be filtered, and of no row.
        field = self.field
        while getattr(field, "remote_field", None) is not None:
            field = field.target_field
        is_uuid = isinstance(field, models.UUIDField)
        texts = (ZERO_UUID, ZERO, WORD) if is_uuid else (ZERO, ZERO_UUID, WORD)
        fitting = (text for text in texts if re.fullmatch(self.kwarg.pattern or ".*", text))
        text = next(fitting, ZERO)
        return text if self.kwarg.converter is None else self.kwarg.converter.to_python(text)


def find_version_parameters(view: Any) -> Parameters:
    versioning: Any = getattr(view, "versioning_class", None)
    if not isinstance(versioning, type) or not issubclass(versioning, QueryParameterVersioning):
        return ()
    return (Parameter(versioning.version_param, _describe_version(versioning)),)


def _describe_version(versioning: Any) -> Schema:
    allowed, default = versioning.allowed_versions or (), versioning.default_version
    schema: Schema = {"type": "string"}
    if allowed:
        known = dict.fromkeys(str(each) for each in (*allowed, default) if each is not None)
        schema["enum"] = list(known)
    if default is not None:
        schema["default"] = str(default)
    return explain(schema, "Version of the API")


def make_placeholders(view: Any, kwargs: PathKwargs) -> dict[str, Any]:
    model = attempt(lambda: find_declared_model(view), None)
    named = {name: NamedKwarg(view, kwarg, model) for name, kwarg in kwargs.items()}
    return {
        name: attempt(kwarg.find_placeholder, ZERO)
        for name, kwarg in named.items()
        # The view takes its default version then.
        if not attempt(partial(getattr, kwarg, "is_version"), False)
    }


STRING: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer", "minimum": 0}
DIGITS = frozenset({r"\d+", "[0-9]+", r"[\d]+"})
ANYTHING = frozenset({"[^/.]+", "[^/]+", ".+", ".*", "[^/.]*", "[^/]*", r"[^\/.]+"})
CONVERTERS: dict[type, Schema] = {
    converters.IntConverter: NUMBER,
    converters.UUIDConverter: {**STRING, "format": "uuid"},
    converters.SlugConverter: {**STRING, "pattern": "^[-a-zA-Z0-9_]+$"},
    converters.PathConverter: {**STRING, "description": "May contain slashes"},
}


class PathParameters:
    def __init__(self, inspection: Inspection, kwargs: PathKwargs) -> None:
        self.inspection = inspection
        self.kwargs = kwargs

    def get_parameters(self) -> Parameters:
        declared = self.inspection.read_declared_parameters("path")
        # drf-spectacular shows the kwarg "pk" as "id".
        if "pk" in self.kwargs and "id" not in self.kwargs and "id" in declared:
            declared.setdefault("pk", declared["id"])
        return tuple(
            self.inspection.attempt(
                partial(self._describe, kwarg, declared.get(name)),
                RETURN_EARLY,
                Parameter(name, dict(STRING), kwarg.required),
            )
            for name, kwarg in self.kwargs.items()
        )

    def _describe(self, kwarg: PathKwarg, declared: Parameter | None) -> Parameter:
        named = NamedKwarg(self.inspection.view, kwarg, self.inspection.model)
        return Parameter(
            kwarg.name,
            self.get_schema(named, declared),
            kwarg.required,
            None if declared is None else declared.multiple,
            self._make_value_info(named),
            shown_as=self._make_shown_name(named),
        )

    def get_schema(self, named: NamedKwarg, declared: Parameter | None) -> Schema:
        view = self.inspection.view
        if declared is not None:
            return self.inspection.write_schema(declared.schema)
        if named.is_version:
            return self.inspection.write_schema(_describe_version(view.versioning_class))
        by_route, by_model = _describe_route(named.kwarg), self._describe_field(named)
        words = by_model.pop("description", "")
        # A route of digits or a model with a numeric key decides the type.
        if by_route.get("type") == "integer":
            schema = by_route
        elif by_model.get("type", "string") != "string":
            schema = by_model
        else:
            schema = FieldSchema.of(by_model) | {**STRING, **by_model, **by_route}
        return self.inspection.write_schema(explain(schema, words))

    def _make_value_info(self, named: NamedKwarg) -> ValueInfos:
        relation, reading = named.parent_relation, self.inspection.reading
        if named.names_own_row:
            return {}
        if relation is None:
            shown = None if reading is None else reading.get(PATH).get(named.kwarg.name)
            return {} if shown is None else find_member_info(shown)
        key = named.parent_path.partition("__")[2] or "pk"
        return {(): ValueInfo(relation=Relation(relation.related_model, key))}

    def _make_shown_name(self, named: NamedKwarg) -> str:
        if not named.names_own_row or not self._looks_up_row():
            return ""
        name = named.kwarg.name
        found = find_shown_name(self.inspection.view, named.model, name)
        return found or (drop_comparison(name) if drop_comparison(name) != name else "")

    def _describe_field(self, named: NamedKwarg) -> Schema:
        field = named.field
        model = getattr(field, "related_model", None) or getattr(field, "model", None)
        if named.names_own_row:
            model = named.model if self._looks_up_row() else None
        if field is None or model is None:
            return {}
        relation = getattr(field, "remote_field", None) is not None
        key = None if relation or field.primary_key else clean_text(field.verbose_name)
        owner = "" if named.names_own_row else find_model_name(model)
        words = clean_text(getattr(field, "help_text", ""))
        if not words and not named.says(key, owner):
            title = "Primary key" if key is None else capfirst(key)
            words = f"{title} of the {find_model_name(model)}"
        return explain(describe_input(field) or STRING, words)

    def _looks_up_row(self) -> bool:
        # In a list route the lookup kwarg may be the key of another model. A get_object() of the
        # project's may do anything with it, unless it calls the inherited one.
        view, calls = self.inspection.view, self.inspection.calls
        if not getattr(view, "detail", False) and "get_object" not in calls:
            return False
        if is_drf_code(type(view), "get_object"):
            return True
        own = read_handler(type(view), "get_object")
        return own is not None and "get_object" in own.calls


def _describe_route(kwarg: PathKwarg) -> Schema:
    if known := CONVERTERS.get(type(kwarg.converter)):
        return dict(known)
    pattern = kwarg.pattern or getattr(kwarg.converter, "regex", None)
    if pattern is None or pattern in ANYTHING:
        return {}
    if pattern in DIGITS:
        return dict(NUMBER)
    anchored = translate_pattern(f"^(?:{pattern})$")
    return {} if anchored is None else {**STRING, "pattern": anchored}
