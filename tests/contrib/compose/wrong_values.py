"""Wrong values of the options and settings of this app, for the tests of all apps."""

from __future__ import annotations

from typing import Any

# Each with a text of the error message, which also names the setting.
WRONG_SETTINGS: list[tuple[str, Any, str]] = [
    ("COMPOSE", "reads", "writes"),
    ("COMPOSE_ALONE", "yes", "True or False"),
    ("COMPOSE_LIMITS", {"cpu": 1}, "calls"),
    ("COMPOSE_LIMITS", {"calls": 0}, "1 or more"),
    ("MAX_PROGRAMS", 0, "1 or more"),
    ("MAX_KEPT_PROGRAMS", 0, "1 or more"),
]
