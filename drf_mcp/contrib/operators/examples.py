"""A call of a tool that can be pasted into a shell: a caller who may make it, and rows to name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from itertools import islice
from typing import Any

from django.contrib.auth import get_user_model

from drf_mcp.contrib.operators.permission_trace import PermissionTrace
from drf_mcp.describers import ANY, Place
from drf_mcp.exceptions import attempt
from drf_mcp.exposure import PATH, Tool, registry
from drf_mcp.features import Call, Example, ToolReview
from drf_mcp.introspection.field_schema import PNG, TEXT

# How many users and rows are tried.
SAMPLE = 20


def find_example(tool: Tool, user: Any = None) -> Example:
    """Return a call of a tool by a user or, by default, by the first caller who may make it.

    Rows are only read. Where the database cannot be read, the arguments are of the right kind.
    """
    arguments: Mapping[str, Any] = tool.hints.call
    users = get_user_model()._default_manager.order_by("pk")[:SAMPLE]
    callers = [None, *attempt(lambda: list(users), [])] if user is None else [user]
    chosen: tuple[Any, PermissionTrace] | None = None
    for caller in callers:
        trace = PermissionTrace(tool, caller)
        if user is None and attempt(partial(getattr, trace, "allows"), False) is False:
            continue
        # The first caller who sees a row for the call, else the first who may make the call.
        has_row = not tool.endpoint.route.kwargs or _find_seen_row(trace, {}) is not None
        chosen = (caller, trace) if has_row else chosen or (caller, trace)
        if has_row:
            break
    if chosen is None:
        return Example(arguments, None)
    caller, trace = chosen
    if tool.options.input_schema is None:
        arguments = attempt(
            lambda: _fill_arguments(tool, caller, trace), otherwise=lambda exc: tool.hints.call
        )
    return Example(arguments, "" if caller is None else str(caller.get_username()))


def _find_seen_row(trace: PermissionTrace, kwargs: Mapping[str, Any]) -> Any:
    """Return a row that the caller of a trace sees, None for none."""
    found: list[Any] = []

    def look(view: Any) -> None:
        asked: list[Any] = attempt(view.get_permissions, [])
        for row in islice(view.get_queryset().all(), SAMPLE):
            allows = (
                partial(each.has_object_permission, view.request, view, row) for each in asked
            )
            if all(attempt(each, False) for each in allows):
                found.append(row)
                return

    trace.ask(look, Call({}, kwargs))
    return found[0] if found else None


def _fill_arguments(tool: Tool, user: Any, trace: PermissionTrace) -> dict[str, Any]:
    """Return the arguments of a call, with the keys of rows that the user sees."""
    filled: dict[str, Any] = json.loads(json.dumps(tool.hints.call))
    items = tool.arguments.items
    whole = filled if items is None or items.name not in filled else filled[items.name][0]
    kwargs, places = {}, []

    def find_listed_row(model: Any) -> Any:
        finder = tool.related.by_model.get(model._meta.concrete_model)
        return finder and _find_seen_row(PermissionTrace(registry.tool(finder), user), {})

    for argument in tool.arguments.arguments:
        group = whole.get(argument.group, {}) if argument.group else whole
        if argument.location == PATH:
            kwargs[argument.parameter.name] = group.get(argument.name)
            places.append((argument, group))
        if argument.name not in group or "examples" in argument.parameter.schema:
            continue
        for place, info in argument.parameter.value_info.items():
            if (upload := info.upload) is not None:
                extension = "png" if upload.image else next(iter(upload.extensions), "txt")
                content = PNG if upload.image else TEXT
                file = f"data:;name=sample.{extension};base64,{content}"
                group[argument.name] = _put(group[argument.name], place, file)
            if (relation := info.relation) is None:
                continue
            # A row that the list shows the caller, else any row.
            row = find_listed_row(relation.model) or relation.model._default_manager.first()
            key = getattr(row, relation.key, None)
            if key is not None:
                group[argument.name] = _put(group[argument.name], place, _write_key(key))
    model, row = tool.endpoint.model, _find_seen_row(trace, kwargs)
    row, view = row or (model and places and find_listed_row(model)), trace.view
    lookup = getattr(view, "lookup_url_kwarg", None) or getattr(view, "lookup_field", None)
    for argument, group in places if row else ():
        name = argument.parameter.name
        parent = f"{name.removesuffix('_pk').removesuffix('_id')}_id"
        column = view.lookup_field if name == lookup else parent
        value = getattr(row, column, None) or getattr(row, name, None)
        if value is not None:
            key = _write_key(value)
            group[argument.name] = [key] if argument.json_type == "array" else key
    return filled


def _write_key(key: Any) -> Any:
    return key if isinstance(key, int) else str(key)


def _put(value: Any, place: Place, key: Any) -> Any:
    if not place:
        return key
    if isinstance(value, list) and place[0] == ANY:
        return [_put(item, place[1:], key) for item in value]
    if isinstance(value, dict) and place[0] in value:
        return {**value, place[0]: _put(value[place[0]], place[1:], key)}
    return value


class ExamplesReview(ToolReview):
    def find_example(self, tool: Any, user: Any = None) -> Example:
        return find_example(tool, user)
