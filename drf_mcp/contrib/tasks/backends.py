"""Django's tasks framework: ``django.tasks``, or the package django-tasks before Django 6."""

from __future__ import annotations

from importlib import import_module
from typing import Any

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
