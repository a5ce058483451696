from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drf_mcp.contrib.compose.calls import ProgramCalls
from drf_mcp.contrib.compose.run import ProgramRun
from drf_mcp.contrib.compose.tool import ComposeTool
from drf_mcp.dispatch.guards import TimeLimitGuard
from drf_mcp.features import CallState, Guard, Proceed
from drf_mcp.outcomes import Outcome


class ProgramGuard(Guard):
    """Runs the program of a call, in the place of a view: in no transaction of its own."""

    # After what records a call, and before what belongs to a single change.
    order = 450

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        call.caller.authenticate()
        return ProgramRun(call, call.tool.read(call.bound.arguments)).get_outcome()


class ProgramTimeGuard(TimeLimitGuard):
    """Stops a call when the time of its program is over."""

    # Within the limit of the tool's own.
    order = 401

    def __init__(self, program: ProgramCalls) -> None:
        self.program = program

    def find_seconds(self, call: CallState) -> float:
        return self.program.left


def find_program_guards(call: CallState, program: Any) -> Sequence[Guard]:
    """Return the guards of a call that a program makes, or that runs one."""
    if program is not None:
        return [ProgramTimeGuard(program)]
    return [ProgramGuard()] if isinstance(call.tool, ComposeTool) else ()
