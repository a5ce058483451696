"""What rows are called: their identifiers, their labels, and what is left out by name."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from drf_mcp.json_text import JSONPointer, to_bytes
from drf_mcp.truncation.json_paths import Path, value_at, written

IDENTIFIERS = ("id", "pk", "uuid", "slug", "url")
LABELS = ("name", "title", "label", "subject", "display_name", "username", "code", "number")
LONGEST = 200


def identifier(row: Any) -> str | None:
    """Return the primary key of a row as text that can be sent, None if it shows none."""
    if isinstance(row, Mapping):
        for name in IDENTIFIERS:
            if is_short(row.get(name)):
                return to_bytes(str(row[name])).decode()
    return None


def place(path: Path) -> str:
    """Return a path as people write it, in text that can be sent and is not too long."""
    text = to_bytes(written(path)).decode()
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}~{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def is_short(value: Any) -> bool:
    """Return whether a value can identify or label a row."""
    if isinstance(value, str):
        return 0 < len(value) <= LONGEST
    return isinstance(value, int) and not isinstance(value, bool)


def reference(row: Any) -> Any:
    """Return what is left of a row that is too long: its identifiers and its label.

    Returns:
        An object for an object, an empty list for a list; any other value as it is.
    """
    if isinstance(row, list):
        return []
    if not isinstance(row, dict):
        return row
    label = next((name for name in LABELS if is_short(row.get(name))), None)
    names = {*IDENTIFIERS, label}
    return {name: value for name, value in row.items() if name in names and is_short(value)}


class Names:
    """What the parts of one answer are called in ``dropped_content_ids``.

    A row is called by its primary key, after its list where several lists lost rows. A
    list whose rows show no key, or the same twice, and everything that is no row, is
    called by its place: ``results[17]``, ``results[3].body``. No two parts are called the
    same.

    Args:
        tree: the whole answer.
        taken: names of something else.
    """

    def __init__(self, tree: Any, taken: Iterable[str] = ()) -> None:
        self.tree = tree
        self.taken = frozenset(taken)
        self._keys: dict[Path, Sequence[str] | None] = {}

    def name(self, path: Path, *, alone: bool) -> str:
        """Return the name of what stands at a path.

        Args:
            path: where it stands.
            alone: True if no other list lost rows.
        """
        if not path or isinstance(path[-1], str):
            name = place(path)
            return JSONPointer.from_path(path) if name in self.taken else name
        keys = self.keys(path[:-1])
        if keys is None:
            return place(path)
        key = keys[path[-1]]
        return key if alone and not self.is_taken(key) else f"{place(path[:-1])}:{key}"

    def is_taken(self, name: str) -> bool:
        """Return whether something else than a row is called by a name."""
        return name in self.taken or (isinstance(self.tree, dict) and name in self.tree)

    def keys(self, path: Path) -> Sequence[str] | None:
        """Return the primary keys of a list's rows, None if they do not tell them apart."""
        if path not in self._keys:
            keys = [identifier(row) for row in value_at(self.tree, path)]
            different = [key for key in dict.fromkeys(keys) if key is not None]
            self._keys[path] = different if len(different) == len(keys) else None
        return self._keys[path]
