from __future__ import annotations

from collections.abc import Iterator

from django.core.checks import CheckMessage, Info, Warning

from drf_mcp.access.narrowing import Narrowing
from drf_mcp.checks.project import MountedEndpoint, Project, register_check
from drf_mcp.option_types.installed import features
from drf_mcp.tools.tool import Tool

# Above that, searching costs a model fewer tokens than the list.
MANY_TOOLS = 60
# As many as the strictest of the widely used clients send to a model.
MAX_TOOLS = 128


@register_check()
def check_count(project: Project) -> Iterator[CheckMessage]:
    count = max(map(len, find_lists(project)), default=0)
    if MANY_TOOLS < count <= MAX_TOOLS:
        yield Info(
            f"An endpoint lists {count} tools. Clients that do not search tools themselves send "
            "all of them to the model.",
            hint="DRF_MCP['TOOL_SEARCH'] = True lists three tools that find and run the others. "
            "See docs/large_apis.md.",
            id="drf_mcp.I001",
        )
    if count > MAX_TOOLS:
        yield Warning(
            f"An endpoint lists {count} tools. Several clients take at most {MAX_TOOLS} from all "
            f"servers together, and models choose better from few.",
            hint="Leave out what agents do not need with DRF_MCP['EXCLUDE'], serve several "
            "endpoints with fewer tools (docs/toolsets.md), or let agents search the tools with "
            "DRF_MCP['TOOL_SEARCH'] (docs/large_apis.md).",
            id="drf_mcp.W005",
        )


def is_searched(endpoint: MountedEndpoint) -> bool:
    shortening = features.overriding("shortens_list")
    return any(feature.shortens_list(endpoint.view) for feature in shortening)


def find_lists(project: Project) -> Iterator[list[Tool]]:
    # What endpoints list at most; those with a toolset in their URL have fewer each.
    if not project.endpoints:
        yield list(project.tools.values())
    for endpoint in project.endpoints:
        view = endpoint.view
        is_own = view.registry is project.registry and "{toolset}" not in endpoint.path
        if is_own and not is_searched(endpoint):
            patterns = None if view.tools is None else tuple(view.tools)
            narrowing = Narrowing("this endpoint", patterns, view.read_only)
            yield list(filter(narrowing.allows, project.tools.values()))
