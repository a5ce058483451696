"""``python -m benchmarks.agents.other_package.document PROJECT``: a project's OpenAPI document.

Runs in a process of its own, because a view keeps the schema class of its first request. The
environment variables name the settings.
"""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any

import django
from django.conf import settings

AUTO_SCHEMA = "drf_spectacular.openapi.AutoSchema"


def make_document(name: str) -> dict[str, Any]:
    """Return the OpenAPI document of a project, as its clients get it."""
    # A project that uses drf-spectacular already keeps its schema class and settings.
    own = {"DEFAULT_SCHEMA_CLASS": AUTO_SCHEMA, **getattr(settings, "REST_FRAMEWORK", {})}
    settings.REST_FRAMEWORK = own
    if not hasattr(settings, "SPECTACULAR_SETTINGS"):
        # drf-spectacular's documentation advises this for documents that become clients.
        settings.SPECTACULAR_SETTINGS = {"COMPONENT_SPLIT_REQUEST": True}
    django.setup()
    from drf_spectacular.generators import SchemaGenerator

    from benchmarks.agents.projects import find_projects

    (project,) = find_projects(name)
    with project.serving():
        document = SchemaGenerator().get_schema(request=None, public=True)
    content: dict[str, Any] = drop_empty_lists(json.loads(json.dumps(document, default=str)))
    return content


def drop_empty_lists(value: Any) -> Any:
    """Return a document without empty lists of required members.

    OpenAPI 3.0 forbids an empty list, and FastMCP rejects the whole document for it.
    """
    if isinstance(value, list):
        return [drop_empty_lists(each) for each in value]
    if not isinstance(value, dict):
        return value
    members = ((k, v) for k, v in value.items() if (k, v) != ("required", []))
    return {name: drop_empty_lists(each) for name, each in members}


if __name__ == "__main__":
    # Warnings about views go to stderr.
    with contextlib.redirect_stdout(sys.stderr):
        document = make_document(sys.argv[1])
    json.dump(document, sys.stdout)
