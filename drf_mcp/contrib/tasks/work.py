"""The function that a worker runs. It is imported only where the project has a backend."""

from __future__ import annotations

from drf_mcp.contrib.tasks.run import Run, find_framework
from drf_mcp.features import mcp_settings


@find_framework().task(backend=mcp_settings.TASKS_BACKEND)  # type: ignore[untyped-decorator]
def run_call(task_id: str) -> None:
    """Make the call of a task, unless it was cancelled, or is being made."""
    if (run := Run.begin(task_id)) is not None:
        run.perform()
