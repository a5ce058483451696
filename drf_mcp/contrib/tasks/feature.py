from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import ngettext_lazy

from drf_mcp.contrib.tasks import TASKS_EXTENSION
from drf_mcp.features import CallState, Feature, Guard, Setting
from drf_mcp.interaction.call_context import DEFERRAL
from drf_mcp.option_types.kinds import Choice, Flag, Number, Text
from drf_mcp.outcomes import Outcome

WORKED = frozenset({"optional", "required"})


class TasksFeature(Feature):
    settings = {
        # The alias in TASKS, of Django's tasks framework, whose workers make calls of tools with
        # the option task. None, or a backend without workers: clients wait. See docs/tasks.md.
        "TASKS_BACKEND": Setting("default", Text(none=True)),
        # Seconds for which a task and its result are kept.
        "TASK_TTL": Setting(24 * 3600, Number()),
    }
    tool_options = {
        # "optional" leaves calls to a worker, for clients that take a task; others wait.
        # "required" refuses others. "job" leaves nothing to a worker: the view answers 202 with
        # the URL of a job, and the task is what that URL says.
        "task": Setting(None, Choice("optional", "required", "job", none=True)),
        # True lets the view say, by `call_context(request).defer()`, whether and from where on a
        # call is left to a worker.
        "defers": Setting(None, Flag(none=True)),
    }
    capability_classes = ("drf_mcp.contrib.tasks.capability.TasksCapability",)
    expires = {
        "tasks": (
            "drf_mcp.contrib.tasks.feature.expire_tasks",
            ngettext_lazy("Deleted %(count)d task.", "Deleted %(count)d tasks.", "count"),
        )
    }

    def prepare(self, call: CallState) -> None:
        if call.tool.options.task in WORKED and (
            tasks := call.server.find_capability(TASKS_EXTENSION)
        ):
            tasks.prepare(call)

    def get_guards(self, call: CallState) -> Sequence[Guard]:
        if not call.slots or DEFERRAL.get(call) is None:
            return ()
        from drf_mcp.contrib.tasks.capability import DeferralGuard

        return [DeferralGuard()]

    def get_unfinished(self, outcome: Outcome, call: CallState) -> Any:
        if not call.slots:
            return None
        task, tasks = DEFERRAL.get(call), call.server.find_capability(TASKS_EXTENSION)
        if task is not None and task.is_deferred:
            return tasks.create(call)
        return tasks.create_of_job(call) if outcome.status == 202 else None

    def read_response(self, outcome: Outcome, response: Any, call: CallState) -> Outcome:
        if response.status == 202 or 300 < response.status < 400:
            from drf_mcp.contrib.tasks.jobs import JOB, find_url

            JOB.set(call, find_url(response))
        return outcome

    def finish_outcome(self, outcome: Outcome, call: CallState) -> Outcome:
        task = DEFERRAL.get(call) if call.slots else None
        if task is not None and task.is_running:
            task.note_terms(outcome, call)
        return outcome


def expire_tasks() -> int:
    from drf_mcp.contrib.tasks.task_store import TaskStore

    return TaskStore().expire()
