"""Arguments for a tool, taken from its schema and from the rows that there are."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.exceptions import contain
from drf_mcp.introspection.field_schema import PNG, TEXT, make_example
from drf_mcp.introspection.types import ANY, Place, Relation, Upload
from drf_mcp.tools import Tool
from drf_mcp.tools.arguments.call import PATH, Argument
from drf_mcp.transports.in_process import LocalEndpoint

# The argument that confirms a call.
CONFIRMATION = "confirmation"


def has_control(tool: Tool, name: str) -> bool:
    """Return whether a guard of a tool reads an argument of that name."""
    return name in {parameter.name for parameter in tool.controls}


def sample_arguments(tool: Tool, user: Any = None) -> dict[str, Any]:
    """Return arguments for a tool: its path about a row that the user sees, if there is one."""
    samples = Samples(tool, user)
    arguments = [
        (argument, samples.get_value(argument))
        for argument in tool.arguments.arguments
        if argument.required or argument.location == PATH or samples.has_example(argument)
    ]
    return tool.arguments.get_arguments_of(arguments)


class Samples:
    def __init__(self, tool: Tool, user: Any) -> None:
        self.tool = tool
        self.row = contain(lambda: self.find_row(user), lambda exc: None)

    def find_row(self, user: Any) -> Any:
        caller = LocalEndpoint().make_caller(user)
        caller.admitted = True
        endpoint = self.tool.endpoint
        view: Any = endpoint.view()
        view.request = Request(ToolRequest(caller, endpoint.method, endpoint.route.path))
        # Where the view's own queryset cannot be made, any row of its model will do.
        rows = contain(lambda: view.get_queryset(), lambda exc: view.queryset)
        return rows.first() or rows.model._default_manager.first()

    def get_value(self, argument: Argument) -> Any:
        parameter = argument.parameter
        if argument.location == PATH and self.row is not None:
            value = contain(lambda: self.get_row_value(parameter.name), lambda exc: None)
            if value is not None:
                value = value if isinstance(value, int) else str(value)
                return [value] if argument.json_type == "array" else value
        value = self.tool.hints.find_value(argument.pointer)
        if value is None:
            value = make_example(parameter.schema, parameter.name)
        for place, relation in parameter.handling.relations.items():
            key = contain(lambda r=relation: self.get_key(r), lambda exc: None)  # type: ignore[misc]
            if key is not None:
                value = self.put(value, place, key)
        for place, upload in parameter.handling.uploads.items():
            value = self.put(value, place, self.get_file(upload))
        return value

    def has_example(self, argument: Argument) -> bool:
        return self.tool.hints.find_value(argument.pointer) is not None

    def get_row_value(self, kwarg: str) -> Any:
        view_class: Any = self.tool.endpoint.view_class
        field = getattr(view_class, "lookup_field", "pk")
        if kwarg == (getattr(view_class, "lookup_url_kwarg", None) or field):
            return getattr(self.row, field)
        parent = kwarg.removesuffix("_pk").removesuffix("_id")
        return getattr(self.row, f"{parent}_id", None) or getattr(self.row, kwarg, None)

    def get_key(self, relation: Relation) -> Any:
        key = relation.model._default_manager.values_list(relation.key, flat=True).first()
        return key if key is None or isinstance(key, int) else str(key)

    def get_file(self, upload: Upload) -> str:
        if upload.image:
            return f"data:image/png;name=sample.png;base64,{PNG}"
        extension = next(iter(upload.extensions), "txt")
        return f"data:;name=sample.{extension};base64,{TEXT}"

    def put(self, value: Any, place: Place, replacement: Any) -> Any:
        if not place:
            return replacement
        if place[0] == ANY and isinstance(value, list):
            return [self.put(item, place[1:], replacement) for item in value]
        if isinstance(value, dict) and place[0] in value:
            return {**value, place[0]: self.put(value[place[0]], place[1:], replacement)}
        return value
