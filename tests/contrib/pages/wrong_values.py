"""Wrong values of what the app declares: the tables of all options and settings hold them."""

from __future__ import annotations

from typing import Any

WRONG_OPTIONS: list[tuple[str, Any]] = [
    ("ui", ""),
    ("ui", {"csp": {}}),
    ("ui", {"template": "a.html", "colour": "red"}),
    ("ui", {"template": "a.html", "csp": {"resourceDomains": "https://cdn.example.com"}}),
]
