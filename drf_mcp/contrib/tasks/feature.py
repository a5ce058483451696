from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import ngettext_lazy

from drf_mcp.features import CallState, Feature, Guard, Setting
from drf_mcp.interaction.call_context import TASK
from drf_mcp.option_types.kinds import Choice, Flag, Number, Text
from drf_mcp.outcomes import Outcome
from drf_mcp.protocol.constants import TASKS_EXTENSION


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
        # "required" refuses others.
        "task": Setting(None, Choice("optional", "required", none=True)),
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
        if call.tool.options.task and (tasks := call.server.find_capability(TASKS_EXTENSION)):
            tasks.prepare(call)

    def get_guards(self, call: CallState) -> Sequence[Guard]:
        if not call.slots or TASK.get(call) is None:
            return ()
        from drf_mcp.contrib.tasks.guard import DeferralGuard

        return [DeferralGuard()]

    def get_unfinished(self, outcome: Outcome, call: CallState) -> Any:
        task = TASK.get(call) if call.slots else None
        if task is None or not task.is_deferred:
            return None
        return call.server.find_capability(TASKS_EXTENSION).create(call)

    def finish_outcome(self, outcome: Outcome, call: CallState) -> Outcome:
        task = TASK.get(call) if call.slots else None
        if task is not None and task.is_running:
            task.note_terms(outcome, call)
        return outcome


def expire_tasks() -> int:
    """Delete the tasks whose time is over, and return their number."""
    from drf_mcp.contrib.tasks.ledger import Ledger

    return Ledger().expire()
