"""Django's tasks framework: ``django.tasks``, or the package django-tasks before Django 6."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from django.core.checks import CheckMessage, Warning

from drf_mcp.checks.project import Project, register_check
from drf_mcp.settings import mcp_settings

FRAMEWORKS = ("django.tasks", "django_tasks")
# They run a task within the request, or never.
WITHOUT_WORKERS = ("immediate.ImmediateBackend", "dummy.DummyBackend")


def find_framework() -> Any:
    """Return the module of the tasks framework, None where there is none."""
    for name in FRAMEWORKS:
        try:
            return import_module(name)
        except ImportError:
            continue
    return None


def find_backend() -> Any:
    """Return the backend of TASKS_BACKEND, None if none of its workers could run a call."""
    alias, framework = mcp_settings.TASKS_BACKEND, find_framework()
    if alias is None or framework is None or alias not in framework.task_backends.settings:
        return None
    backend = framework.task_backends[alias]
    for name in WITHOUT_WORKERS:
        module, _, attribute = name.partition(".")
        kind = getattr(import_module(f"{framework.__name__}.backends.{module}"), attribute)
        if isinstance(backend, kind):
            return None
    return backend


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
