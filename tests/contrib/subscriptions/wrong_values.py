"""Wrong values of the options and settings of this app, for the tests of all apps."""

from __future__ import annotations

from typing import Any

from drf_mcp.envelopes import OkEnvelope

# Each with a text of the error message, which also names the setting.
WRONG_SETTINGS: list[tuple[str, Any, str]] = [
    ("SUBSCRIPTION_BUS_CLASS", OkEnvelope, "drf_mcp.contrib.subscriptions.Bus, or None"),
    ("MAX_STREAMS", -1, "0 or more"),
    ("MAX_SUBJECTS", 0, "1 or more"),
]
