from __future__ import annotations

from collections.abc import Iterator

from django.core.checks import CheckMessage, Warning

from drf_mcp.operators.checks.project import Project, register_check
from drf_mcp.resources.documents import Document, Folder
from drf_mcp.settings import mcp_settings


@register_check()
def check_resources(project: Project) -> Iterator[CheckMessage]:
    if mcp_settings.RESOURCES:
        return
    folders = project.registry.find_added(Folder)  # type: ignore[type-abstract]
    added = [*project.registry.find_added(Document), *folders]
    chosen = [name for name, tool in project.tools.items() if tool.options.resource]
    if added or chosen:
        told = f"{len(added)} documents and skills" if added else f"resource= of {chosen[0]}"
        yield Warning(
            f"RESOURCES is off, so clients are served none of what was chosen: {told}.",
            hint='Set "RESOURCES": True in DRF_MCP. See docs/resources.md.',
            id="drf_mcp.W029",
        )
