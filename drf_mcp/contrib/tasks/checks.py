from __future__ import annotations

from collections.abc import Iterator

from django.core.checks import CheckMessage, Warning

from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.tasks.backends import find_backend


@register_check()
def check_tasks(project: Project) -> Iterator[CheckMessage]:
    for name, tool in project.tools.items():
        if tool.options.task == "required" and find_backend() is None:
            yield Warning(
                f'The tool {name} has task="required", but TASKS_BACKEND names no backend with '
                f"workers: its calls wait.",
                hint="Set TASKS to a backend such as django_tasks_db. See docs/tasks.md.",
                id="drf_mcp.W030",
            )
        if tool.options.defers and not tool.options.task:
            yield Warning(
                f"The tool {name} has defers=True, but no task: its calls wait.",
                hint='Add task="optional" or task="required". See docs/tasks.md.',
                id="drf_mcp.W030",
            )
