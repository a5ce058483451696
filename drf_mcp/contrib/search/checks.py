from __future__ import annotations

from collections.abc import Iterator

from django.core.checks import CheckMessage, Error

from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.search import SEARCH_TOOLS


@register_check()
def check_search_names(project: Project) -> Iterator[CheckMessage]:
    shadowed = sorted(set(SEARCH_TOOLS) & project.tools.keys())
    if shadowed and any(each.is_shortened for each in project.endpoints):
        yield Error(
            f"The project has a tool named {', '.join(shadowed)}, which hides the "
            "tool of TOOL_SEARCH by that name.",
            hint="Give the tool another name with @mcp_tool(name=...).",
            id="drf_mcp.E017",
        )
