"""Wrong values of the options and settings of this app, for the tests of all apps."""

from __future__ import annotations

from typing import Any

WRONG_OPTIONS: list[tuple[str, Any]] = [
    ("dry_run", "yes"),
    ("confirm", "yes"),
    ("idempotency_key", "required"),
    ("if_match", 5),
    ("bulk", "each"),
    ("bulk_limit", 0),
]
# Each with a text of the error message, which also names the setting.
WRONG_SETTINGS: list[tuple[str, Any, str]] = [
    ("CONFIRM", "DELETE", "True or False"),
    ("IDEMPOTENCY_KEYS", "yes", "True or False"),
    ("IDEMPOTENCY_WINDOW", 0, "whole number of 1 or more"),
    ("MAX_KEYS", 0, "1 or more"),
    ("MAX_KEYS_CHARACTERS", 0, "1 or more"),
    ("REPEAT_WINDOW", 0, "whole number of 1 or more"),
]
