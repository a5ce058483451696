"""How to take a call back: the tool that does, with arguments ready to send."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from django.db.models import Model

from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.exceptions import contain
from drf_mcp.features import CallState
from drf_mcp.outcomes import MISSING, Outcome
from drf_mcp.tools.arguments.call import PATH
from drf_mcp.tools.tool import Tool

# The names of a primary key in answers, where no serializer says which object they show.
KEYS = ("pk", "id")
logger = logging.getLogger("drf_mcp")


def add_undo(outcome: Outcome, call: CallState) -> Outcome:
    """Return the outcome of a call that worked, with what takes the call back."""
    tool = call.tool
    if not tool.options.undo or tool.reads or outcome.failure is not None or outcome.is_trial:
        return outcome
    # A tool that the caller does not see is not named.
    inverse = call.server.tools_capability.get_offered_tools(call.context).get(tool.options.undo)
    if inverse is None or not Visibility(call.caller).find_first([inverse], 1):
        return outcome
    kwargs, data = outcome.call.get("kwargs", {}), outcome.data

    def find_steps() -> Outcome:
        steps: Any
        if tool.takes_items and isinstance(data, list):
            steps = []
            for place, row in enumerate(data):
                own = {n: v[place] if isinstance(v, list) else v for n, v in kwargs.items()}
                steps.append(None if row is None else get_step(tool, inverse, own, row))
        else:
            steps = get_step(tool, inverse, kwargs, data)
        return outcome.changed(meta={**outcome.meta, "undo": steps})

    def go_without(exc: Exception) -> Outcome:
        logger.warning("How to take %s back cannot be said", tool.name, exc_info=exc)
        return outcome

    return contain(find_steps, go_without)


def get_step(tool: Tool, inverse: Tool, kwargs: Mapping[str, Any], data: Any) -> dict[str, Any]:
    """Return the call of one tool that takes a call of another back."""
    pairs: list[Any] = []
    missing = []
    for argument in inverse.arguments.arguments:
        if not argument.required or not argument.listed:
            continue
        name, value = argument.parameter.name, MISSING
        if argument.location == PATH:
            value = find_kwarg(tool, inverse, name, kwargs, data)
        elif isinstance(data, Mapping):
            value = data.get(name, MISSING)
        if value is MISSING:
            missing.append(argument.name)
        else:
            pairs.append((argument, value))
    arguments = inverse.arguments.get_arguments_of(pairs)
    step = {"tool": inverse.name, "arguments": arguments}
    return {**step, "missing": missing} if missing else step


def find_kwarg(tool: Tool, inverse: Tool, name: str, kwargs: Mapping[str, Any], data: Any) -> Any:
    # The same kwarg of another path is the key of another object.
    paths = {each.endpoint.route.path.partition(f"{{{name}}}")[:2] for each in (tool, inverse)}
    known = kwargs.get(name, MISSING) if len(paths) == 1 else MISSING
    if name != inverse.endpoint.key_kwarg:
        return known
    row = getattr(getattr(data, "serializer", None), "instance", None)
    model = inverse.related.find_model(inverse.endpoint)
    field = str(getattr(inverse.endpoint.view_class, "lookup_field", "pk"))
    if isinstance(row, Model) and model is not None and isinstance(row, model):
        # An action may answer with another object than it was called for, such as a copy.
        key = getattr(row, field, None)
        return MISSING if key is None else key
    names = [name, field, *(KEYS if field in KEYS else ())]
    answer = data if isinstance(data, Mapping) else {}
    shown = next((answer[each] for each in names if each in answer), MISSING)
    if known is MISSING:
        is_member = tool.endpoint.collection == inverse.endpoint.collection
        return shown if is_member else MISSING
    return known if shown is MISSING or str(shown) == str(known) else MISSING
