"""JSON text and hashes of whatever REST framework's JSON encoder takes."""

from __future__ import annotations

import hashlib
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


def content_hash(value: Any) -> str:
    """Return ``sha256-`` and the hex hash of a value's canonical JSON.

    Canonical JSON is compact, in UTF-8, with sorted names.

    Args:
        value: the value as a reader gets it, see `json_value`: a client can compute the
            same hash.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
