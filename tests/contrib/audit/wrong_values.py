"""Wrong values of the options and settings of this app, for the tests of all apps."""

from __future__ import annotations

from typing import Any

# Each with a text of the error message, which also names the setting.
WRONG_SETTINGS: list[tuple[str, Any, str]] = [
    ("AUDIT_STRICT", "yes", "True or False"),
    ("AUDIT_RETENTION", 0, "whole number of 1 or more"),
    ("INTENT", "always", "required"),
]
