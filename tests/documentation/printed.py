"""Compares the output of a command with the output on a page.

"…" and "..." match anything. Line breaks are ignored, and a page may show a part of a JSON value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

ELLIPSIS = re.compile(r"…|\.\.\.")
# These differ from call to call.
VOLATILE = [
    (r"req_[0-9]{12}", "REQUEST"),
    (r'("(?:duration_ms|execution_time|database_ms|slowest_query_ms)": )[0-9.e-]+', r"\g<1>0"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?", "TIME"),
    (r"sha256[:-][0-9a-f]{64}", "HASH"),
    # The id of an archive.
    (r"""(?<=["'])[\w-]{22}(?=["'])""", "ARCHIVE"),
    # The sizes of definitions: bytes and tokens.
    (r"(?m)^(\S.* ) *\d{3,6} +\d{2,5}$", r"\g<1>SIZE"),
]


def is_shown(shown: str, printed: str) -> bool:
    """Return whether the output on a page matches the printed output."""
    shown, printed = replace_varying(shown), replace_varying(printed)
    told, said = parsed(shown), parsed(printed)
    if told is not None and said is not None:
        return any(covers(node, told) for node in nodes(said))
    return bool(pattern(shown).search(" ".join(printed.split())))


def replace_varying(text: str) -> str:
    for pattern, constant in VOLATILE:
        text = re.sub(pattern, constant, text)
    return text


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def nodes(value: Any) -> Iterator[Any]:
    yield value
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, (dict, list)):
            yield from nodes(item)


def covers(value: Any, shown: Any) -> bool:
    """Return whether a JSON value contains everything that the page shows of it."""
    if isinstance(shown, dict) and isinstance(value, dict):
        return all(name in value and covers(value[name], shown[name]) for name in shown)
    if isinstance(shown, list) and isinstance(value, list):
        pairs = zip(value, shown, strict=False)
        return len(value) >= len(shown) and all(covers(*pair) for pair in pairs)
    if isinstance(shown, str) and isinstance(value, str):
        return bool(pattern(shown).fullmatch(" ".join(value.split())))
    return bool(shown == value)


def pattern(text: str) -> re.Pattern[str]:
    """Return a regular expression for a text with ellipses."""
    parts = ELLIPSIS.split(" ".join(text.split()))
    return re.compile(".*".join(re.escape(part.strip()) for part in parts), re.S)
