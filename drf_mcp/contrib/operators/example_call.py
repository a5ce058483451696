"""The command line of a call that can be pasted: it names rows that exist and a user who may."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from itertools import islice
from typing import Any

from django.contrib.auth import get_user_model

from drf_mcp.contrib.operators.permission_trace import PermissionTrace
from drf_mcp.exceptions import contain
from drf_mcp.introspection.types import ANY, Place
from drf_mcp.tools import Tool, registry
from drf_mcp.tools.arguments.call import PATH

# Users and rows that are tried.
SAMPLE = 20
ANYBODY = "USERNAME"


class ExampleCall:
    """One call of a tool, as a user or, by default, as the first caller who may.

    Rows are only read. Where the database cannot be asked, the arguments are of the right kind.
    """

    def __init__(self, tool: Tool, user: Any = None) -> None:
        self.tool = tool
        self.user = user

    @property
    def command(self) -> str:
        """The command line, quoted for a shell."""
        words = ["python", "manage.py", "mcp_call", self.tool.name, *self.write_arguments()]
        return shlex.join([*words, *self.write_user()])

    def write_user(self) -> list[str]:
        name = ANYBODY
        if self.caller is not None:
            user = self.caller.user
            if user is None:
                return []
            name = str(user.get_username())
        return [f"--as={name}"] if name.startswith("-") else ["--as", name]

    def write_arguments(self) -> Iterator[str]:
        arguments = self.arguments
        flat = all(not isinstance(value, (dict, list)) for value in arguments.values())
        if not flat or any("." in name or "=" in name for name in arguments):
            yield json.dumps(arguments, ensure_ascii=False, default=str)
            return
        for name, value in arguments.items():
            yield f"{name}={self.write_value(value)}"

    def write_value(self, value: Any) -> str:
        # The command reads a value that is JSON as such: a text of digits needs its quotes.
        if isinstance(value, str):
            is_json = contain(lambda: (json.loads(value), True)[1], lambda exc: False)
            return json.dumps(value) if is_json else value
        return json.dumps(value, ensure_ascii=False, default=str)

    @cached_property
    def arguments(self) -> dict[str, Any]:
        arguments = self.tool.hints.call
        if self.caller is None or self.tool.options.input_schema is not None:
            return arguments
        return contain(lambda: self.caller.fill(arguments), lambda exc: arguments)

    @cached_property
    def caller(self) -> Any:
        """The first caller who may call the tool and sees a row for it, None if nobody may."""
        callers = [ExampleCaller(self.tool, user) for user in self.find_users()]
        allowed = [caller for caller in callers if contain(caller.may_call, lambda exc: False)]
        ready = (caller for caller in allowed if contain(caller.has_row, lambda exc: False))
        return next(ready, allowed[0] if allowed else None)

    def find_users(self) -> list[Any]:
        if self.user is not None:
            return [self.user]
        users: Any = get_user_model()
        rows = users._default_manager.order_by("pk")[:SAMPLE]
        everybody: list[Any] = contain(lambda: list(rows), lambda exc: [])
        return [None, *everybody]


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
                key = self.find_key(relation)
                if key is not None:
                    group[argument.name] = self.put(group[argument.name], place, key)
        self.fill_own_row(filled)
        return filled  # type: ignore[no-any-return]

    def fill_own_row(self, filled: dict[str, Any]) -> None:
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
        asked = [permission.allows_object for permission in trace.get_permissions()]
        for row in islice(rows.all(), SAMPLE):
            if all(contain(partial(ask, row), lambda exc: False) for ask in asked):
                return row
        return None

    def find_key(self, relation: Any) -> Any:
        # A row of the list that the caller sees, else any.
        finder = self.tool.related.by_model.get(relation.model._meta.concrete_model)
        seen = None
        if finder is not None:
            caller = ExampleCaller(registry.tool(finder), self.user)
            seen = contain(lambda: caller.find_row({}), lambda exc: None)
        row = seen or relation.model._default_manager.first()
        key = getattr(row, relation.key, None)
        return key if key is None or isinstance(key, int) else str(key)

    def put(self, value: Any, place: Place, key: Any) -> Any:
        if not place:
            return key
        if isinstance(value, list) and place[0] == ANY:
            return [self.put(item, place[1:], key) for item in value]
        if isinstance(value, dict) and place[0] in value:
            return {**value, place[0]: self.put(value[place[0]], place[1:], key)}
        return value
