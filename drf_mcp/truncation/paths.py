"""Where the parts of an answer stand, and what they are called."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from django.utils.translation import gettext as _

from drf_mcp.codes import gettext_noop
from drf_mcp.json_text import OBJECTS, JSONPointer, to_bytes

Path: TypeAlias = tuple[str | int, ...]
"""Where a value stands: the names and positions that lead to it."""

IDENTIFIERS = ("id", "pk", "uuid", "slug", "url")
LABELS = ("name", "title", "label", "subject", "display_name", "username", "code", "number")
LONGEST_NAME = 200
# By the member of an outcome that has lost entries.
LOSSES = {
    "telemetry": gettext_noop("%(count)d of %(total)d telemetry entries left out"),
    "meta": gettext_noop("%(count)d of %(total)d meta entries left out"),
    "suggestions": gettext_noop("%(count)d of %(total)d suggestions left out"),
    "warnings": gettext_noop("%(count)d of %(total)d warnings left out"),
}
# Names of members that could be mistaken for a path.
AMBIGUOUS = re.compile(r"^$|[./:\[\]]")
LONGEST_DIGEST = 20_000
"""Characters that no digest exceeds: its contract limits all parts of it."""


@dataclass(frozen=True)
class Tail:
    """The entries that a list, or an object, has lost from its end.

    Attributes:
        path: where the list or object stands.
        start: how many entries it kept.
        total: how many it had.
    """

    path: Path
    start: int
    total: int

    @property
    def name(self) -> str:
        """The name of all these entries: ``results[17:2000]``."""
        return f"{format_path(self.path)}[{self.start}:{self.total}]"

    @property
    def count(self) -> int:
        """How many entries are gone."""
        return self.total - self.start


@dataclass(frozen=True)
class Aside:
    """What was taken from beside the data.

    Attributes:
        name: the member of the outcome.
        left_out: its entries that are gone, as JSON.
        count: how many they are.
        total: how many there were.
    """

    name: str
    left_out: Any
    count: int
    total: int

    @property
    def loss(self) -> str:
        """The loss in words, to be put into a sentence."""
        if self.name == "next":
            return _("the arguments of the next page left out")
        return _(LOSSES[self.name]) % {"count": self.count, "total": self.total}


def summarise(losses: Iterable[str], limit: int) -> str:
    """Return the sentence that says what was lost, and why."""
    facts = {"losses": ", ".join(losses), "limit": limit}
    # Translators: a list such as "3 of 9 items left out, 1 long text digested".
    return _("%(losses)s, to fit %(limit)d tokens.") % facts


def find_value(tree: Any, path: Path) -> Any:
    """Return the value that stands at a path."""
    for key in path:
        tree = tree[key]
    return tree


def is_digest(value: Any) -> bool:
    """Return whether a text, or an object, is a digest, which is never shortened."""
    if isinstance(value, str) and len(value) < LONGEST_DIGEST and "digest/v1" in value:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return False
    return isinstance(value, dict) and value.get("content_type") == "digest/v1"


def replace_values(tree: Any, values: Mapping[Path, Any]) -> Any:
    """Return a tree with other values at some paths; the tree itself stays as it is."""
    if not values:
        return tree
    if () in values:
        return values[()]
    inner: dict[str | int, dict[Path, Any]] = {}
    for path, value in values.items():
        inner.setdefault(path[0], {})[path[1:]] = value
    copy = tree.copy()
    for key, members in inner.items():
        copy[key] = replace_values(tree[key], members)
    return copy


def format_path(path: Path) -> str:
    """Return a path as people write it, ``results[17].body``, in text that can be sent.

    Where a name could be mistaken for a path it is a JSON pointer; an endless one is cut.
    """
    if any(isinstance(key, str) and AMBIGUOUS.search(key) for key in path):
        text: str = JSONPointer.from_path(path)
    else:
        parts = (f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
        text = "".join(parts).removeprefix(".")
        text = text if path and isinstance(path[0], str) else f"data{text}"
    text = to_bytes(text).decode()
    if len(text) <= LONGEST_NAME:
        return text
    return f"{text[:LONGEST_NAME]}~{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def get_identifier(row: Any) -> str | None:
    """Return the primary key of a row as text that can be sent, None if it shows none."""
    if isinstance(row, OBJECTS):
        for name in IDENTIFIERS:
            if is_label(row.get(name)):
                text = str(row[name])
                return text if text.isascii() else to_bytes(text).decode()
    return None


def is_label(value: Any) -> bool:
    """Return whether a value can identify or label a row."""
    if isinstance(value, str):
        return 0 < len(value) <= LONGEST_NAME
    return isinstance(value, int) and not isinstance(value, bool)


def reduce_row(row: Any) -> Any:
    """Return what is left of a row that is too long: its identifiers and its label.

    Returns:
        An object for an object, an empty list for a list; any other value as it is.
    """
    if isinstance(row, list):
        return []
    if not isinstance(row, dict):
        return row
    label = next((name for name in LABELS if is_label(row.get(name))), None)
    names = {*IDENTIFIERS, label}
    return {name: value for name, value in row.items() if name in names and is_label(value)}
