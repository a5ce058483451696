"""Topics: what a client listens for and what a change is about, in texts without values."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping
from typing import Any

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db.models import Field, Model
from django.urls import URLResolver, get_resolver
from django.utils.crypto import salted_hmac

from drf_mcp.access.resources import FoundEndpoint, find_endpoint_patterns

# The topic of every list and every resource.
EVERYTHING = "*"
# Before the topic of a row that is deleted.
DELETED = "-"

ModelClass = type[Model]


def write_list_topic(name: str, user_pk: Any = None) -> str:
    """Return the topic of a list: of one user, or of all users."""
    return f"list:{name}:{'*' if user_pk is None else sign_value('user', str(user_pk))}"


def write_topic(kind: str, key: str) -> str:
    """Return the topic of what is neither a list nor a row, such as ``uri`` or ``task``."""
    return f"{kind}:{sign_value(kind, key)}"


def write_row_topic(model: ModelClass, field: Field[Any, Any], value: Any) -> str:
    # A URL's text, such as a UUID in capitals, and a row's value give the same topic.
    with contextlib.suppress(ValidationError):
        value = field.to_python(value)
    name = f"{model._meta.label_lower}.{field.name}"
    return f"row:{name}:{sign_value(name, str(value))}"


def widen_topic(topic: str) -> str:
    """Return the topic of all users, rows or URIs of a kind, for the topic of one."""
    return topic.rpartition(":")[0] + ":*"


def sign_value(name: str, text: str) -> str:
    """Return a signature of a value, which the bus carries in place of the value."""
    salt = f"drf_mcp.contrib.subscriptions.{name}"
    return salted_hmac(salt, text, algorithm="sha256").hexdigest()[:16]


def find_column(label: str, name: str) -> tuple[ModelClass, Field[Any, Any]] | None:
    """Return a model with a table of its own and one of its fields, None for what is no column."""
    model = apps.get_model(label)._meta.concrete_model
    assert model is not None
    meta: Any = model._meta
    try:
        field = meta.pk if name == "pk" else meta.get_field(name)
    except FieldDoesNotExist:
        return None
    return (model, field) if field.concrete and not field.many_to_many else None


class RowTopics:
    """Writes the topics of rows: by the fields by which resources show them.

    They are read off the endpoints of ROOT_URLCONF. What clients of this process listen for is
    added, since middleware may choose another URLconf.
    """

    def __init__(self) -> None:
        self.heard: set[tuple[ModelClass, Field[Any, Any]]] = set()

    def find(self, model: ModelClass, values: Mapping[str, Any]) -> Iterator[str]:
        """Yield the topics of a row.

        Args:
            values: those of the row, by the column's attribute.
        """
        models = {model._meta.concrete_model, *model._meta.get_parent_list()}
        for shown, field in self.find_fields():
            if shown in models and field.attname in values:
                yield write_row_topic(shown, field, values[field.attname])

    def find_fields(self) -> set[tuple[ModelClass, Field[Any, Any]]]:
        return self.heard.union(*map(find_shown_fields, find_servers(get_resolver())))


@functools.lru_cache(maxsize=1)
def find_servers(resolver: URLResolver) -> list[Any]:
    servers = []
    for _, entry in find_endpoint_patterns(resolver):
        view = FoundEndpoint("", entry.callback).view
        server = view.server_class(view.registry, view.envelope_class)
        server.tool_options = view.tool_options or server.tool_options
        servers.append(server)
    return servers


def find_shown_fields(server: Any) -> set[tuple[ModelClass, Field[Any, Any]]]:
    def read(tools: Mapping[str, Any]) -> set[tuple[ModelClass, Field[Any, Any]]]:
        resources = server.find_capability("resources")
        routes = resources.get_routes(tools.values()) if resources else ()
        named = (route.find_lookup() for route in routes)
        return {found for each in named if each and (found := find_column(*each))}

    tools = server.registry.tools(None, server.tool_options)
    return server.registry.keep("shown fields", tools, read)  # type: ignore[no-any-return]


row_topics = RowTopics()
