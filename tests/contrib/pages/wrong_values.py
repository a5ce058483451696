"""Wrong values of the options and settings of this app, for the tests of all apps."""

from __future__ import annotations

from typing import Any

WRONG_OPTIONS: list[tuple[str, Any]] = [
    ("ui", ""),
    ("ui", {"csp": {}}),
    ("ui", {"template": "a.html", "colour": "red"}),
    ("ui", {"template": "a.html", "csp": {"resourceDomains": "https://cdn.example.com"}}),
]
