"""Wrong values of the options and settings of this app, for the tests of all apps."""

from __future__ import annotations

from typing import Any

# Each with a text of the error message, which also names the setting.
WRONG_SETTINGS: list[tuple[str, Any, str]] = [
    ("SUBSCRIPTION_CACHE", "nowhere", "CACHES"),
    ("MAX_STREAMS", -1, "0 or more"),
    ("MAX_SUBJECTS", 0, "1 or more"),
]
