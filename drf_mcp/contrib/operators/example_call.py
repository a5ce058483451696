"""Example calls that can be pasted: with rows that exist, as a user who may make the call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from itertools import islice
from typing import Any

from django.contrib.auth import get_user_model

from drf_mcp.contrib.operators.permission_trace import PermissionTrace
from drf_mcp.exceptions import contain
from drf_mcp.features import Example
from drf_mcp.introspection.types import ANY, Place
from drf_mcp.tools import Tool, registry
from drf_mcp.tools.arguments.call import PATH

# How many users and rows are tried.
SAMPLE = 20


def find_example(tool: Tool, user: Any = None) -> Example:
    """Return a call of a tool by a user or, by default, by the first caller who may make it.

    Rows are only read. Where the database cannot be read, the arguments are of the right kind.
    """
    caller = find_caller(tool) if user is None else ExampleCaller(tool, user)
    arguments = tool.hints.call
    if caller is None:
        return Example(arguments, None)
    if tool.options.input_schema is None:
        arguments = contain(lambda: caller.fill(tool.hints.call), lambda exc: tool.hints.call)
    return Example(arguments, "" if caller.user is None else str(caller.user.get_username()))


def find_caller(tool: Tool) -> ExampleCaller | None:
    """Return the first caller who may call a tool and sees a row for it, else the first who may."""
    rows = get_user_model()._default_manager.order_by("pk")[:SAMPLE]
    users: list[Any] = contain(lambda: list(rows), lambda exc: [])
    first = None
    for user in (None, *users):
        caller = ExampleCaller(tool, user)
        if contain(caller.may_call, lambda exc: False):
            if contain(caller.has_row, lambda exc: False):
                return caller
            first = first or caller
    return first


class ExampleCaller:
    # A user of None is an anonymous caller.

    def __init__(self, tool: Tool, user: Any) -> None:
        self.tool = tool
        self.user = user
        self.trace = PermissionTrace(tool, user)

    def may_call(self) -> bool:
        return self.trace.allows is not False

    def has_row(self) -> bool:
        return not self.tool.endpoint.route.kwargs or self.find_row({}) is not None

    def fill(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        filled = json.loads(json.dumps(arguments))
        for argument in self.tool.arguments.arguments:
            group = filled.get(argument.group, {}) if argument.group else filled
            if argument.name not in group or "examples" in argument.parameter.schema:
                continue
            for place, relation in argument.parameter.handling.relations.items():
                key = self._find_key(relation)
                if key is not None:
                    group[argument.name] = self._put(group[argument.name], place, key)
        self._fill_own_row(filled)
        return filled  # type: ignore[no-any-return]

    def _fill_own_row(self, filled: dict[str, Any]) -> None:
        places = [
            argument for argument in self.tool.arguments.arguments if argument.location == PATH
        ]
        groups = {a.parameter.name: filled.get(a.group, {}) if a.group else filled for a in places}
        kwargs = {a.parameter.name: groups[a.parameter.name].get(a.name) for a in places}
        row, view = self.find_row(kwargs), self.trace.view
        lookup = getattr(view, "lookup_url_kwarg", None) or getattr(view, "lookup_field", None)
        for argument in places:
            if argument.parameter.name == lookup and row is not None:
                value = getattr(row, view.lookup_field)
                value = value if isinstance(value, int) else str(value)
                is_list = argument.json_type == "array"
                groups[lookup][argument.name] = [value] if is_list else value

    def find_row(self, kwargs: Mapping[str, Any]) -> Any:
        trace = self.trace
        trace.view.kwargs = dict(kwargs)
        rows = contain(lambda: trace.view.get_queryset(), lambda exc: None)
        if rows is None:
            return None
        asked = [permission.allows_object for permission in trace.ask_permissions()]
        for row in islice(rows.all(), SAMPLE):
            if all(contain(partial(ask, row), lambda exc: False) for ask in asked):
                return row
        return None

    def _find_key(self, relation: Any) -> Any:
        # A row of the list that the caller sees, else any.
        finder = self.tool.related.by_model.get(relation.model._meta.concrete_model)
        seen = None
        if finder is not None:
            caller = ExampleCaller(registry.tool(finder), self.user)
            seen = contain(lambda: caller.find_row({}), lambda exc: None)
        row = seen or relation.model._default_manager.first()
        key = getattr(row, relation.key, None)
        return key if key is None or isinstance(key, int) else str(key)

    def _put(self, value: Any, place: Place, key: Any) -> Any:
        if not place:
            return key
        if isinstance(value, list) and place[0] == ANY:
            return [self._put(item, place[1:], key) for item in value]
        if isinstance(value, dict) and place[0] in value:
            return {**value, place[0]: self._put(value[place[0]], place[1:], key)}
        return value
