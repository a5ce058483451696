"""Versioning classes: the versions a caller can name."""

from __future__ import annotations

from typing import Any

from rest_framework.versioning import QueryParameterVersioning

from drf_mcp.introspection.text import explain
from drf_mcp.introspection.types import Parameter, Parameters, Schema


def version_schema(view: Any) -> Schema:
    """Return the schema of the version the view's versioning class reads."""
    versioning = view.versioning_class
    default = versioning.default_version
    versions = [*(versioning.allowed_versions or ())]
    if versions and default is not None and default not in versions:
        versions.append(default)
    schema: Schema = {"type": "string"}
    if versions:
        schema["enum"] = [str(version) for version in versions if version is not None]
    if default is not None:
        schema["default"] = str(default)
    return explain(schema, "Version of the API")


def version_parameters(view: Any) -> Parameters:
    """Return the query parameter that names the version, where one does."""
    versioning = getattr(view, "versioning_class", None)
    if not isinstance(versioning, type) or not issubclass(versioning, QueryParameterVersioning):
        return ()
    return (Parameter(versioning.version_param, version_schema(view)),)
