"""Wrong values of what the app declares: the tables of all options and settings hold them."""

from __future__ import annotations

from typing import Any

# Each with what the message has to hold besides the name of the setting.
WRONG_SETTINGS: list[tuple[str, Any, str]] = [
    ("COMPOSE", "reads", "writes"),
    ("COMPOSE_LIMITS", {"cpu": 1}, "calls"),
    ("COMPOSE_LIMITS", {"calls": 0}, "1 or more"),
]
