"""Wrong values of what the app declares: the tables of all options and settings hold them."""

from __future__ import annotations

from typing import Any

WRONG_OPTIONS: list[tuple[str, Any]] = [
    ("aggregate", "status"),
    ("aggregate", [1]),
]
