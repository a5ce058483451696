"""The hash of archived items, as a client computes it."""

from __future__ import annotations

import hashlib
import json


def hash_items(items: list[dict]) -> str:
    """Return the hash of items as content_retrieve gives them."""
    return "sha256:" + hashlib.sha256(json.dumps(items, separators=(",", ":")).encode()).hexdigest()
