"""Wrong values of the options and settings of this app, for the tests of all apps."""

from __future__ import annotations

from typing import Any

WRONG_OPTIONS: list[tuple[str, Any]] = [
    ("resource", "yes"),
    ("resource", {"mime": "text/plain"}),
    ("resource", {"annotations": {"priority": 2}}),
]
