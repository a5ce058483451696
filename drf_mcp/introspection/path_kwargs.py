"""What the kwargs of a path name, versions among them, and values for a path without request."""

from __future__ import annotations

import re
import uuid
from functools import cached_property, partial
from typing import Any

from django.db import models
from django.utils.translation import gettext as _
from rest_framework.versioning import (
    NamespaceVersioning,
    QueryParameterVersioning,
    URLPathVersioning,
)

from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.fields.model_fields import ModelValue
from drf_mcp.introspection.locations import find_declared_model
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.types import (
    Parameter,
    Parameters,
    PathKwarg,
    PathKwargs,
    Schema,
)

PARENT = re.compile(r"parent_lookup_(?P<lookup>\w+)|(?P<name>\w+)_(?:pk|id)")
NUMBER, UUID, WORD = "0", str(uuid.UUID(int=0)), "placeholder"


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
        """Whether the kwarg's name has the words of a key and of the model it belongs to.

        Args:
            key: None for the primary key.
        """
        name = self.kwarg.name.lower().removeprefix("parent_lookup_")
        if key is None and not re.search(r"(?:^|_)(?:pk|id|primary_key)\Z", name):
            return False
        return set(f"{key or ''} {owner}".lower().split()) <= set(name.split("_"))

    @property
    def field(self) -> Any:
        if self.names_own_row:
            return ModelValue.at(self.model, self.view.lookup_field).field
        return self.parent_field

    @property
    def parent_field(self) -> Any:
        return ModelValue.at(self.model, self.parent_path).field if self.parent_path else None

    @property
    def parent_relation(self) -> Any:
        """The relation to the object that the kwarg identifies; None where it is not known."""
        field = ModelValue.at(self.model, self.parent_path.partition("__")[0]).field
        return field if getattr(field, "related_model", None) is not None else None

    @cached_property
    def parent_path(self) -> str:
        if self.model is None:
            return ""
        if parent := PARENT.fullmatch(self.kwarg.name):
            return parent["lookup"] or parent["name"]
        # A nested router puts the lookup field of the parent's view behind the parent's name.
        words = self.kwarg.name.split("_")
        for length in range(len(words) - 1, 0, -1):
            path = f"{'_'.join(words[:length])}__{'_'.join(words[length:])}"
            if ModelValue.at(self.model, path).field is not None:
                return path
        return ""

    def get_placeholder(self) -> Any:
        # Of the type of the key, so that a queryset can be made of it, and of no row.
        field = self.field
        while getattr(field, "remote_field", None) is not None:
            field = field.target_field
        is_uuid = isinstance(field, models.UUIDField)
        texts = (UUID, NUMBER, WORD) if is_uuid else (NUMBER, UUID, WORD)
        fitting = (text for text in texts if re.fullmatch(self.kwarg.pattern or ".*", text))
        text = next(fitting, NUMBER)
        return text if self.kwarg.converter is None else self.kwarg.converter.to_python(text)


class VersionParameter:
    def __init__(self, view: Any) -> None:
        self.versioning: Any = getattr(view, "versioning_class", None)

    def get_parameters(self) -> Parameters:
        versioning = self.versioning
        if not isinstance(versioning, type) or not issubclass(versioning, QueryParameterVersioning):
            return ()
        return (Parameter(versioning.version_param, self.get_schema()),)

    def get_schema(self) -> Schema:
        default = self.versioning.default_version
        versions = [*(self.versioning.allowed_versions or ())]
        if versions and default is not None and default not in versions:
            versions.append(default)
        schema: Schema = {"type": "string"}
        if versions:
            schema["enum"] = [str(version) for version in versions if version is not None]
        if default is not None:
            schema["default"] = str(default)
        return explain(schema, _("Version of the API"))


def make_placeholders(view: Any, kwargs: PathKwargs) -> dict[str, Any]:
    nothing: Any = None
    model = attempt("", lambda: find_declared_model(view), "", [], nothing)
    named = {name: NamedKwarg(view, kwarg, model) for name, kwarg in kwargs.items()}
    return {
        name: attempt(name, kwarg.get_placeholder, "", [], NUMBER)
        for name, kwarg in named.items()
        # Without a version the default one counts.
        if not attempt(name, partial(getattr, kwarg, "is_version"), "", [], False)
    }
