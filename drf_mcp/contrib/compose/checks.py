from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from django.core.checks import CheckMessage, Error

from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.compose import COMPOSE


@register_check()
def check_compose(project: Project) -> Iterator[CheckMessage]:
    if find_spec("pydantic_monty") is None:
        yield Error(
            "drf_mcp.contrib.compose runs programs with pydantic-monty, which is not installed.",
            hint='Install it: pip install "drf-mcp-server[compose]".',
            id="drf_mcp.E021",
        )
    if COMPOSE in project.tools:
        yield Error(
            f"The project has a tool named {COMPOSE}, which the endpoint serves in the place of "
            "the tool that runs programs.",
            hint="Give the tool another name with @mcp_tool(name=...).",
            id="drf_mcp.E021",
        )
