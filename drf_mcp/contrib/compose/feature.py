from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec

from django.core.checks import CheckMessage, Error

from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.compose import COMPOSE, LIMITS, PROGRAM, PROGRAMS
from drf_mcp.features import (
    Bound,
    CallState,
    Choice,
    Either,
    Feature,
    Flag,
    Guard,
    MembersOf,
    Number,
    Setting,
)

PROGRAM_LIMITS = MembersOf(
    f"a dict with some of {', '.join(map(repr, LIMITS))}, each a number of 1 or more",
    dict.fromkeys(LIMITS, Number()),
)


class ComposeFeature(Feature):
    settings = {
        # True lists the tool tools_compose, which runs a program over the tools that read; with
        # "writes" over all tools. See docs/compose.md.
        "COMPOSE": Setting(False, Either(Flag(), Choice("writes"))),
        # True lists no tool of the project that programs can call: agents find them by
        # `signatures()`, or by a search. See docs/fewer_tools.md.
        "COMPOSE_ALONE": Setting(False, Flag()),
        # What a program may use. What you leave out keeps its default. See docs/compose.md.
        "COMPOSE_LIMITS": Setting(LIMITS, PROGRAM_LIMITS),
        # Programs of one caller that run at once, in a process.
        "MAX_PROGRAMS": Setting(
            3, Bound("%(most)s programs of yours are running: wait for one to end.")
        ),
        # Records of programs, and results too long for an answer, of one caller.
        "MAX_KEPT_PROGRAMS": Setting(
            50, Bound("This program is not kept: %(most)s of yours are, for ten minutes each.")
        ),
    }
    view_attributes = {
        # As `COMPOSE`, for one endpoint.
        "compose": Setting(None, Either(Flag(), Choice("writes")).or_none()),
        # As COMPOSE_ALONE, for one endpoint.
        "compose_alone": Setting(None, Flag().or_none()),
    }
    expires = {"kept_programs": "drf_mcp_compose.KeptProgram"}

    tool_source = "drf_mcp.contrib.compose.source.ComposeSource"

    def get_guards(self, call: CallState) -> Sequence[Guard]:
        program = PROGRAM.get(call) if call.slots else None
        if program is None and not call.tool.endpoint.is_built_in:
            return ()
        from drf_mcp.contrib.compose.run import ProgramGuard, ProgramTimeGuard
        from drf_mcp.contrib.compose.tool import ComposeTool

        if program is not None:
            return [ProgramTimeGuard(program)]
        return [ProgramGuard()] if isinstance(call.tool, ComposeTool) else ()


@register_check()
def check_compose(project: Project) -> Iterator[CheckMessage]:
    if find_spec("pydantic_monty") is None:
        yield Error(
            "drf_mcp.contrib.compose runs programs with pydantic-monty, which is not installed.",
            hint='Install it: pip install "drf-mcp-server[compose]".',
            id="drf_mcp.E021",
        )
    for name, named in PROGRAMS.items():
        if name not in project.tools:
            yield Error(
                f"mcp_program({name!r}) is no tool: {named.problem}",
                hint="Correct the program: each tool that it calls has to be there.",
                id="drf_mcp.E021",
            )
    if COMPOSE in project.tools:
        yield Error(
            f"The project has a tool named {COMPOSE}, which the endpoint serves in the place of "
            "the tool that runs programs.",
            hint="Give the tool another name with @mcp_tool(name=...).",
            id="drf_mcp.E021",
        )
