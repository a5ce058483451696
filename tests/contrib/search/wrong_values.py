"""Wrong values of the options and settings of this app, for the tests of all apps."""

from __future__ import annotations

from typing import Any

WRONG_OPTIONS: list[tuple[str, Any]] = [("pinned", "yes")]
# Each with a text of the error message, which also names the setting.
WRONG_SETTINGS: list[tuple[str, Any, str]] = [
    ("TOOL_SEARCH", None, "True or False"),
    ("PINNED_TOOLS", ["api/*"], "not a pattern"),
]
