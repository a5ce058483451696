"""Wrong values of what the app declares: the tables of all options and settings hold them."""

from __future__ import annotations

from typing import Any

# Each with what the message has to hold besides the name of the setting.
WRONG_SETTINGS: list[tuple[str, Any, str]] = [
    ("ANSWER_TIMEOUT", -1, "0 or more"),
    ("WAITING_CALLS", 0, "1 or more"),
]
