"""Wrong values of what the app declares: the tables of all options and settings hold them."""

from __future__ import annotations

from typing import Any

WRONG_OPTIONS: list[tuple[str, Any]] = [
    ("aggregate", "status"),
    ("aggregate", [1]),
]
# Each with what the message has to hold besides the name of the setting.
WRONG_SETTINGS: list[tuple[str, Any, str]] = [("AGGREGATES", "all", "'declared' or 'auto'")]
