from __future__ import annotations

from collections.abc import Iterator

from django.core.checks import CheckMessage, Error

from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.pages.capability import Page


@register_check()
def check_pages(project: Project) -> Iterator[CheckMessage]:
    for tool in project.tools.values():
        if tool.options.ui and (fault := Page(tool).find_fault()):
            yield Error(
                f"The page of the tool {tool.name} cannot be loaded: {fault}",
                hint="Correct ui=, or the template. Stock pages need a backend of Django's in "
                "TEMPLATES with APP_DIRS.",
                id="drf_mcp.E016",
            )
