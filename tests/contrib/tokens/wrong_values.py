"""Wrong values of the settings of this app, for the tests of all apps."""

from __future__ import annotations

from typing import Any

# Each with a text of the error message, which also names the setting.
WRONG_SETTINGS: list[tuple[str, Any, str]] = [("MAX_TOKENS", 0, "1 or more")]
