"""Cuts the rows of an answer to a number of characters."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from drf_mcp.json_text import OBJECTS, JSONPointer, encode_plain, to_bytes

# A value at this depth is kept or left out as a whole.
MAX_DEPTH = 64
# A text with more bytes than this can be cut to its beginning, or digested: most scripts other than
# Latin have a token for each two or three bytes.
LONG_TEXT = 1600
# A digest has hashes and counts, too.
MIN_EXCERPT_TOKENS = 300
Path: TypeAlias = tuple[str | int, ...]
"""The names and positions that lead to a value."""
IDENTIFIERS = ("id", "pk", "uuid", "slug", "url")
LABELS = ("name", "title", "label", "subject", "display_name", "username", "code", "number")
MAX_NAME_LENGTH = 200
# The contract limits all parts of a digest.
MAX_DIGEST_LENGTH = 20_000
# Names of members that would make a dotted path ambiguous.
AMBIGUOUS = re.compile(r"^$|[./:\[\]]")


@dataclass(frozen=True)
class OmittedEntries:
    """The entries that a list or an object has lost from its end: it kept ``start`` of them."""

    path: Path
    start: int
    total: int

    @property
    def name(self) -> str:
        """The name of all these entries: ``results[17:2000]``."""
        return f"{format_path(self.path)}[{self.start}:{self.total}]"

    @property
    def count(self) -> int:
        return self.total - self.start


@dataclass(frozen=True)
class Excerpt:
    """The beginning of a long text, or its digest, and the characters of both."""

    path: Path
    # None for a digest.
    shown: int | None
    total: int


@dataclass(frozen=True)
class Reduction:
    """A shortened answer: what is left of it, and what it lost."""

    value: Any
    omitted: tuple[OmittedEntries, ...] = ()
    # The rows that kept identifiers and label only.
    reduced: tuple[Path, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()
    is_empty: bool = False

    @property
    def level(self) -> str:
        """The ``content_fidelity``."""
        if self.reduced or self.is_empty:
            return "reference_only"
        digests = any(excerpt.shown is None for excerpt in self.excerpts)
        return "summary" if digests and not self.omitted else "partial"

    @property
    def paths(self) -> list[Path]:
        """The paths of values that are not whole."""
        cut = [*self.reduced, *(excerpt.path for excerpt in self.excerpts)]
        return [*cut, ()] if self.is_empty else cut


class RowCutter:
    """Cuts an answer to a number of characters of its JSON, by whole rows.

    A list keeps its first rows. A row that takes more than half of the room gets what the other
    rows leave: its own lists are cut, or it is reduced to its identifiers and label. The lists of
    an object share its room. The cutter reads in proportion to the room, not to the answer.

    Args:
        excerpt: the characters of the shortest excerpt of a long text, which the text counts as.
        keep_members: True if the answer itself must keep all of its members.
    """

    def __init__(self, excerpt: int, *, keep_members: bool = False) -> None:
        self.excerpt = excerpt
        self.keep_members = keep_members
        # Whether one of the texts that were measured is long.
        self.has_long_texts = False
        # By the ids of objects and lists, with these: so no other value gets such an id.
        self._sizes: dict[int, tuple[Any, int]] = {}
        self._omitted: list[OmittedEntries] = []
        self._reduced: list[Path] = []

    def cut(self, tree: Any, room: int) -> tuple[Reduction, int] | None:
        """Return the answer cut to a room and its characters, None if it cannot be cut so far."""
        self._omitted, self._reduced = [], []
        value, size = tree, self.measure(tree, room)
        if size > room:
            if not isinstance(tree, (dict, list)):
                return None
            value, size = self._cut_value(tree, (), room, is_row=self.keep_members)
            if value is None:
                return None
        return Reduction(value, tuple(self._omitted), tuple(self._reduced)), size

    def measure(self, value: Any, most: int) -> int:
        """Return the characters of a value, any number above ``most`` if it has more."""
        if is_long(value):
            self.has_long_texts = True
            return self.excerpt
        if not isinstance(value, (dict, list)) or is_digest(value):
            return len(encode_plain(value))
        if id(value) in self._sizes:
            return self._sizes[id(value)][1]
        size = 1 if value else 2
        for part in self._measure_parts(value, most):
            size += part
            if size > most:
                return size
        self._sizes[id(value)] = value, size
        return size

    def _measure_parts(self, value: Any, most: int) -> Iterator[int]:
        # The characters of some entries after others, with their commas.
        if isinstance(value, list):
            yield from (self.measure(row, most) + 1 for row in value)
            return
        plain = {
            name: member
            for name, member in value.items()
            if not isinstance(member, (dict, list)) and not is_long(member)
        }
        if plain:
            yield len(encode_plain(plain)) - 1
        for name, member in value.items():
            if name not in plain:
                yield len(encode_plain(name)) + self.measure(member, most) + 2

    def _cut_value(
        self, value: Any, path: Path, room: int, *, is_row: bool = False
    ) -> tuple[Any, int]:
        # With the characters of the result; None for a row that has to be reduced.
        if len(path) >= MAX_DEPTH:
            if is_row:
                return None, 0
            self._omit(value, path, 0)
            return type(value)(), 2
        if isinstance(value, list):
            return self._cut_list(value, path, room)
        return self._cut_object(value, path, room, is_row=is_row)

    def _cut_list(self, rows: list[Any], path: Path, room: int) -> tuple[list[Any], int]:
        kept: list[Any] = []
        long: list[tuple[int, int]] = []
        used, half = 1, room // 2
        for row in rows:
            size = self.measure(row, half) + 1
            if size > half and isinstance(row, (dict, list)):
                row = _reduce_row(row)
                size = self.measure(row, half) + 1
                long.append((len(kept), size))
            if used + size > room:
                break
            used += size
            kept.append(row)
        self._omit(rows, path, len(kept))
        long = [entry for entry in long if entry[0] < len(kept)]
        left = room - used
        for number, (index, size) in enumerate(long):
            share = min(max(left // (len(long) - number), room // 8), left) + size
            kept[index], taken = self._fit_row(rows[index], (*path, index), share, left + size)
            left -= taken - size
        return kept, max(room - left, 2)

    def _fit_row(self, row: Any, path: Path, share: int, left: int) -> tuple[Any, int]:
        # With the characters of the result and a comma.
        size = self.measure(row, left) + 1
        if size <= left:
            return row, size
        if isinstance(row, (dict, list)) and share > self.excerpt:
            mark = (len(self._omitted), len(self._reduced))
            small, size = self._cut_value(row, path, share - 1, is_row=True)
            if small is not None and size < share:
                return small, size + 1
            # The row is reduced as a whole.
            del self._omitted[mark[0] :]
            del self._reduced[mark[1] :]
        small = _reduce_row(row)
        if small != row:
            self._reduced.append(path)
        return small, len(encode_plain(small)) + 1

    def _cut_object(
        self, value: dict[str, Any], path: Path, room: int, *, is_row: bool
    ) -> tuple[dict[str, Any] | None, int]:
        inner = {
            name: member
            for name, member in value.items()
            if member and isinstance(member, (dict, list)) and not is_digest(member)
        }
        # The names and the brackets of lists always stay.
        small = {name: [] if name in inner else member for name, member in value.items()}
        fixed = self.measure(small, room)
        if fixed > room:
            return (None, 0) if is_row else self._cut_members(value, path, room)
        sizes = {name: self.measure(member, room) for name, member in inner.items()}
        left = room - fixed + 2 * len(sizes)
        # The shortest first: longer lists share what shorter ones leave.
        for number, name in enumerate(sorted(sizes, key=sizes.__getitem__)):
            share, size = left // (len(sizes) - number), sizes[name]
            small[name] = inner[name]
            if size > share:
                small[name], size = self._cut_value(inner[name], (*path, name), share)
            left -= size
        return small, room - left

    def _cut_members(
        self, value: dict[str, Any], path: Path, room: int
    ) -> tuple[dict[str, Any], int]:
        kept: dict[str, Any] = {}
        used = 1
        for name, member in value.items():
            size = len(encode_plain(name)) + self.measure(member, room) + 2
            if used + size > room:
                break
            used += size
            kept[name] = member
        self._omit(value, path, len(kept))
        return kept, max(used, 2)

    def _omit(self, value: Any, path: Path, start: int) -> None:
        if start < len(value):
            self._omitted.append(OmittedEntries(path, start, len(value)))


def is_long(value: Any) -> bool:
    """Return whether a value is a text that can be shortened by itself."""
    return isinstance(value, str) and len(to_bytes(value)) > LONG_TEXT and not is_digest(value)


def find_texts(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield the long texts of an answer with their paths."""
    if is_long(value):
        yield path, value
    elif isinstance(value, (dict, list)) and len(path) < MAX_DEPTH and not is_digest(value):
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from find_texts(member, (*path, key))


def find_value(tree: Any, path: Path) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def replace_values(tree: Any, values: Mapping[Path, Any]) -> Any:
    """Return a copy of a tree with other values at some paths."""
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
    """Return a path as ``results[17].body``, or as a JSON pointer where that is ambiguous.

    The path can be written as UTF-8, and a very long one ends with a hash.
    """
    pointer = JSONPointer.from_path(path)
    if any(isinstance(key, str) and AMBIGUOUS.search(key) for key in path):
        text: str = pointer
    else:
        text = pointer.dotted if path and isinstance(path[0], str) else f"data{pointer.dotted}"
    text = to_bytes(text).decode()
    if len(text) <= MAX_NAME_LENGTH:
        return text
    return f"{text[:MAX_NAME_LENGTH]}~{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def is_digest(value: Any) -> bool:
    """Return whether a text, or an object, is a digest, which is never shortened."""
    if isinstance(value, str) and len(value) < MAX_DIGEST_LENGTH and "digest/v1" in value:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return False
    return isinstance(value, dict) and value.get("content_type") == "digest/v1"


def find_identifier(row: Any) -> str | None:
    """Return the primary key of a row as text, None if the row shows no key."""
    if isinstance(row, OBJECTS):
        for name in IDENTIFIERS:
            if _is_label(row.get(name)):
                text = str(row[name])
                return text if text.isascii() else to_bytes(text).decode()
    return None


def _reduce_row(row: Any) -> Any:
    """Return the identifiers and the label of an object, an empty list for a list."""
    if isinstance(row, list):
        return []
    if not isinstance(row, dict):
        return row
    label = next((name for name in LABELS if _is_label(row.get(name))), None)
    names = {*IDENTIFIERS, label}
    return {name: value for name, value in row.items() if name in names and _is_label(value)}


def _is_label(value: Any) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= MAX_NAME_LENGTH
    return isinstance(value, int) and not isinstance(value, bool)
