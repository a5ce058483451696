"""Wrong values of the options and settings of this app, for the tests of all apps."""

from __future__ import annotations

from typing import Any

LOGIN = "https://login.company.example"

# Each with a text of the error message, which also names the setting.
WRONG_SETTINGS: list[tuple[str, Any, str]] = [
    ("IDENTITY_PROVIDERS", [LOGIN], "a dict from issuers"),
    ("IDENTITY_PROVIDERS", {LOGIN: {}}, "jwks_url"),
    ("IDENTITY_PROVIDERS", {LOGIN: {"jwks_url": "http://login.company.example"}}, "an https URL"),
    *[
        (
            "IDENTITY_PROVIDERS",
            {LOGIN: {"jwks_url": f"{LOGIN}/keys", "algorithms": ["HS256"]}},
            "algorithms",
        )
    ],
]
