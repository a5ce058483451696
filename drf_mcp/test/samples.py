"""Arguments for a tool, taken from its schema and from the rows that there are."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.exceptions import contain
from drf_mcp.introspection.examples import Example
from drf_mcp.introspection.field_schema import PNG, TEXT
from drf_mcp.introspection.types import ANY, Place, Relation, Upload
from drf_mcp.tools import Tool
from drf_mcp.tools.arguments.call import PATH, Argument
from drf_mcp.transports.in_process import make_local_caller


def sample_arguments(tool: Tool, user: Any = None) -> dict[str, Any]:
    """Return arguments for a tool: its path about a row that the user sees, if there is one.

    Args:
        tool: the tool.
        user: the caller; None for an anonymous one.
    """
    row = contain(lambda: first_row(tool, user), lambda exc: None)
    given = [
        (argument, value_of(argument, tool, row))
        for argument in tool.arguments.arguments
        if argument.required or argument.location == PATH
    ]
    return tool.arguments.get_arguments_of(given)


def first_row(tool: Tool, user: Any) -> Any:
    """Return a row that the view shows the user, else any row of its model."""
    caller = make_local_caller(user)
    caller.admitted = True
    view: Any = tool.endpoint.view()
    view.request = Request(ToolRequest(caller, tool.endpoint.method, tool.endpoint.route.path))
    rows = contain(lambda: view.get_queryset(), lambda exc: view.queryset)
    return rows.first() or rows.model._default_manager.first()


def value_of(argument: Argument, tool: Tool, row: Any) -> Any:
    """Return a value for an argument: of the row, of a related one, or of the right kind."""
    parameter = argument.parameter
    if argument.location == PATH and row is not None:
        value = contain(lambda: row_value(tool, parameter.name, row), lambda exc: None)
        if value is not None:
            return value if isinstance(value, int) else str(value)
    value = Example(parameter.schema, parameter.name).value
    for place, relation in parameter.handling.relations.items():
        key = contain(lambda r=relation: first_key(r), lambda exc: None)  # type: ignore[misc]
        if key is not None:
            value = with_value_at(value, place, key)
    for place, upload in parameter.handling.uploads.items():
        value = with_value_at(value, place, sample_file(upload))
    return value


def sample_file(upload: Upload) -> str:
    """Return a small file of a type that is taken, as a data URI."""
    if upload.image:
        return f"data:image/png;name=sample.png;base64,{PNG}"
    extension = next(iter(upload.extensions), "txt")
    return f"data:;name=sample.{extension};base64,{TEXT}"


def first_key(relation: Relation) -> Any:
    """Return what identifies the first object that a relation may lead to."""
    key = relation.model._default_manager.values_list(relation.key, flat=True).first()
    return key if key is None or isinstance(key, int) else str(key)


def with_value_at(value: Any, place: Place, replacement: Any) -> Any:
    """Return a value with something else at a place of it, if it has such a place."""
    if not place:
        return replacement
    if place[0] == ANY and isinstance(value, list):
        return [with_value_at(item, place[1:], replacement) for item in value]
    if isinstance(value, dict) and place[0] in value:
        return {**value, place[0]: with_value_at(value[place[0]], place[1:], replacement)}
    return value


def row_value(tool: Tool, kwarg: str, row: Any) -> Any:
    """Return what of a row a path names: its lookup field, or the row that it belongs to."""
    view_class: Any = tool.endpoint.view_class
    field = getattr(view_class, "lookup_field", "pk")
    if kwarg == (getattr(view_class, "lookup_url_kwarg", None) or field):
        return getattr(row, field)
    parent = kwarg.removesuffix("_pk").removesuffix("_id")
    return getattr(row, f"{parent}_id", None) or getattr(row, kwarg, None)
