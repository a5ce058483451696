"""Wrong values of the options and settings of this app, for the tests of all apps."""

from __future__ import annotations

from typing import Any

WRONG_OPTIONS: list[tuple[str, Any]] = [("task", True), ("defers", "yes")]
# Each with a text of the error message, which also names the setting.
WRONG_SETTINGS: list[tuple[str, Any, str]] = [
    ("TASK_TTL", 0, "1 or more"),
    ("TASKS_BACKEND", 5, "text"),
    ("MAX_RUNNING_TASKS", -1, "0 or more"),
    ("MAX_TASKS", 0, "1 or more"),
]
