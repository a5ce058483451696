"""JSON text of whatever REST framework's JSON encoder takes."""

from __future__ import annotations

import json
from typing import Any


def json_text(value: Any, *, allow_nan: bool = False) -> str:
    """Return a value as JSON text with Python's own separators.

    Raises:
        ValueError: on NaN and infinities, which are not JSON, unless they are allowed.
    """
    # Imported here: an envelope can be chosen before REST framework is loaded.
    from rest_framework.utils.encoders import JSONEncoder

    return json.dumps(value, cls=JSONEncoder, ensure_ascii=False, allow_nan=allow_nan)


def json_value(value: Any) -> Any:
    """Return a value as a JSON reader gets it: plain dicts, lists, strings and numbers."""
    return json.loads(json_text(value, allow_nan=True))
