"""How to take a call back: the tool that does, with arguments ready to send."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
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
    if not tool.options.undo or tool.reads or outcome.failure is not None:
        return outcome
    # A tool that the caller does not see is not named.
    offered = call.server.tools_capability.get_offered_tools(call.context)
    inverse = offered.get(tool.options.undo)
    if outcome.is_trial or inverse is None:
        return outcome
    if not Visibility(call.caller).find_first([inverse], 1):
        return outcome

    def go_without(exc: Exception) -> Outcome:
        logger.warning("How to take %s back cannot be said", tool.name, exc_info=exc)
        return outcome

    return contain(lambda: Undo(tool, inverse).add_to(outcome), go_without)


class Undo:
    """Takes the calls of a tool back.

    Args:
        tool: the tool that was called.
        inverse: the tool that its option ``undo`` names.
    """

    def __init__(self, tool: Tool, inverse: Tool) -> None:
        self.tool = tool
        self.inverse = inverse

    def add_to(self, outcome: Outcome) -> Outcome:
        """Return the outcome of a call that worked, with what takes the call back."""
        kwargs, data = outcome.call.get("kwargs", {}), outcome.data
        undo: Any
        if self.tool.takes_items and isinstance(data, list):
            rows = zip(self.split_kwargs(kwargs, len(data)), data, strict=True)
            undo = [None if row is None else self.get_step(own, row) for own, row in rows]
        else:
            undo = self.get_step(kwargs, data)
        return outcome.changed(meta={**outcome.meta, "undo": undo})

    def split_kwargs(self, kwargs: Mapping[str, Any], count: int) -> Iterator[Mapping[str, Any]]:
        # Those of each of several objects.
        for place in range(count):
            yield {n: v[place] if isinstance(v, list) else v for n, v in kwargs.items()}

    def get_step(self, kwargs: Mapping[str, Any], data: Any) -> dict[str, Any]:
        pairs, missing = [], []
        for argument in self.inverse.arguments.arguments:
            if not argument.required or not argument.listed:
                continue
            name = argument.parameter.name
            is_path = argument.location == PATH
            value = self.find_kwarg(name, kwargs, data) if is_path else MISSING
            if not is_path and isinstance(data, Mapping):
                value = data.get(name, MISSING)
            if value is MISSING:
                missing.append(argument.name)
            else:
                pairs.append((argument, value))
        arguments = self.inverse.arguments.get_arguments_of(pairs)
        step = {"tool": self.inverse.name, "arguments": arguments}
        return {**step, "missing": missing} if missing else step

    def find_kwarg(self, name: str, kwargs: Mapping[str, Any], data: Any) -> Any:
        # The same kwarg of another path is the key of another object.
        same = self.get_path_to(self.tool, name) == self.get_path_to(self.inverse, name)
        known = kwargs.get(name, MISSING) if same else MISSING
        if name != self.inverse.endpoint.key_kwarg:
            return known
        row = getattr(getattr(data, "serializer", None), "instance", None)
        if self.is_object(row):
            # An action may answer with another object than it was called for, such as a copy.
            return self.get_key(row)
        shown = self.find_shown_key(name, data)
        if known is MISSING:
            is_member = self.tool.endpoint.collection == self.inverse.endpoint.collection
            return shown if is_member else MISSING
        return known if shown is MISSING or str(shown) == str(known) else MISSING

    def get_path_to(self, tool: Tool, name: str) -> str:
        before, found, _ = tool.endpoint.route.path.partition(f"{{{name}}}")
        return before + found

    def is_object(self, row: Any) -> bool:
        model = self.inverse.related.find_model(self.inverse.endpoint)
        return isinstance(row, Model) and model is not None and isinstance(row, model)

    @property
    def lookup_field(self) -> str:
        return str(getattr(self.inverse.endpoint.view_class, "lookup_field", "pk"))

    def get_key(self, row: Any) -> Any:
        key = getattr(row, self.lookup_field, None)
        return MISSING if key is None else key

    def find_shown_key(self, name: str, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return MISSING
        names = [name, self.lookup_field, *(KEYS if self.lookup_field in KEYS else ())]
        return next((data[each] for each in names if each in data), MISSING)
