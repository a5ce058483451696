"""The argument in which an agent says why it makes a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from drf_mcp.describers import Parameter
from drf_mcp.errors import ArgumentsRefused, missing_argument
from drf_mcp.features import CallState, Guard, Proceed, ToolSource, mcp_settings
from drf_mcp.outcomes import Outcome

INTENT = Parameter(
    "intent", {"type": "string", "description": "Why, in one sentence."}, role="note"
)


class IntentSource(ToolSource):
    def get_controls(self, tool: Any) -> Sequence[Parameter]:
        wish = mcp_settings.INTENT
        return [replace(INTENT, required=wish == "required")] if wish else ()


def find_intent_name(tool: Any) -> str:
    """Return the name of the argument, which differs where a view has one of that name."""
    return tool.arguments.find_control_pointer(INTENT.name)[1:]  # type: ignore[no-any-return]


class IntentGuard(Guard):
    """Refuses a call of an agent without an intent; the calls of a program have the program's."""

    order = 290

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        is_agents = call.context is not None and not call.context.is_inner
        # Some tools of the package do not have the argument.
        name = find_intent_name(call.tool)
        if name and is_agents and not call.bound.controls.get(INTENT.name):
            raise ArgumentsRefused([missing_argument(f"/{name}")])
        return proceed(call)
