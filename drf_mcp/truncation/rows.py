"""Cuts the rows of an answer to a number of tokens."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypeAlias

from drf_mcp.json_text import OBJECTS, JSONPointer, encode_plain, to_bytes
from drf_mcp.truncation.tokens import CHARS_PER_TOKEN

CONTAINERS = frozenset({dict, list})
# A value at this depth is kept or left out as a whole.
MAX_DEPTH = 64
# The entries that are measured at once: fewer of them where they are not small, or have no room.
LARGE_BLOCK, SMALL_BLOCK = 512, 8
# The entries, inner ones among them, of what is measured at once.
MOST_SMALL = 512
# The characters of its texts: what holds more is not measured anew at each level.
MOST_SMALL_TEXT = 8_000
# A text with more tokens than this can be cut to its beginning, or digested.
LONG_TEXT_TOKENS = 400
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
    """The entries that a list or an object has lost from its end.

    Attributes:
        path: the path of the list or object.
        start: the number of entries that it kept.
        total: the number of entries that it had.
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
        return self.total - self.start


@dataclass(frozen=True)
class Excerpt:
    """The beginning or the digest of a long text.

    Attributes:
        path: the path of the text.
        shown: the number of characters of the beginning, None for a digest.
        total: the number of characters of the text.
    """

    path: Path
    shown: int | None
    total: int


@dataclass(frozen=True)
class Reduction:
    """A shortened answer.

    Attributes:
        value: the rest of the answer.
        omitted: the collections that lost entries.
        reduced: the paths of rows that kept identifiers and label only.
        excerpts: the texts that are excerpts.
        is_empty: True if nothing of the answer is left.
    """

    value: Any
    omitted: tuple[OmittedEntries, ...] = ()
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
    """Cuts an answer to a number of tokens, by whole rows.

    A list keeps its first rows. A row that takes more than half of the room gets what the other
    rows leave: its own lists are cut, or it is reduced to its identifiers and label. The lists of
    an object share its room. The cutter reads in proportion to the room, not to the answer.

    Args:
        count: returns the tokens of a text.
        keep_members: True if the answer itself must keep all of its members.
    """

    def __init__(self, count: Callable[[str], int], *, keep_members: bool = False) -> None:
        self.count = count
        self.keep_members = keep_members
        # Objects and lists by id, and blocks of their entries, with their tokens, and whether they
        # have no more.
        self._measured: dict[int, tuple[Any, int, bool]] = {}
        self._blocks: dict[tuple[Any, Any], tuple[Any, int, bool]] = {}
        # By their JSON.
        self._counted: dict[str, int] = {}
        # By the ids of rows of the answer: what is left of each, and its tokens.
        self._short_rows: dict[int, tuple[Any, int]] = {}
        # The ids of those among them that have no long text.
        self._plain: set[int] = set()
        self._omitted: list[OmittedEntries] = []
        self._reduced: list[Path] = []

    def cut(self, tree: Any, room: int) -> Reduction | None:
        """Return the answer cut to a room, None if its rows cannot be cut so far."""
        self._omitted, self._reduced = [], []
        value = tree
        if self.measure(tree, room) > room:
            if not isinstance(tree, (dict, list)):
                return None
            value = self._cut_value(tree, (), room, is_row=self.keep_members)
            if value is None:
                return None
        return Reduction(value, tuple(self._omitted), tuple(self._reduced))

    def is_long(self, text: str) -> bool:
        """Return whether a text can be shortened by itself."""
        if len(text) <= LONG_TEXT_TOKENS or is_digest(text):
            return False
        return len(text) > 4 * LONG_TEXT_TOKENS or self._count_plain(text) > LONG_TEXT_TOKENS

    def is_plain(self, value: Any) -> bool:
        """Return whether an object or a list was found to have no long text."""
        return id(value) in self._plain

    def measure(self, value: Any, most: int) -> int:
        """Return the tokens of a value, any number above ``most`` if it has more.

        A long text counts as its shortest excerpt.
        """
        if isinstance(value, str):
            return MIN_EXCERPT_TOKENS if self.is_long(value) else self._count_plain(value)
        if not isinstance(value, (dict, list)):
            return self._count_plain(value)
        _, known, is_exact = self._measured.get(id(value), (None, 0, False))
        if is_exact or known > most:
            return known
        is_whole = is_small(value)
        if is_whole:
            self._plain.add(id(value))
        if is_whole or is_digest(value):
            used, is_exact = self._count_json(value, most)
        else:
            used = 2
            for _, size in self._measure_blocks(value, most):
                used += size
                if used > most:
                    break
            is_exact = used <= most
        self._measured[id(value)] = (value, used, is_exact)
        return used

    def _count_plain(self, value: Any) -> int:
        return self._count(encode_plain(value))

    def _count(self, text: str) -> int:
        if len(text) > 4 * LONG_TEXT_TOKENS:
            return self.count(text)
        # Each attempt at a cut has the same names, scalars and short rows.
        if text not in self._counted:
            self._counted[text] = self.count(text)
        return self._counted[text]

    def _count_json(self, value: Any, most: int) -> tuple[int, bool]:
        # With whether the tokens are exact: what surely has more than `most` is not counted.
        text = encode_plain(value)
        least = -(-len(text) // CHARS_PER_TOKEN)
        return (least, False) if least > most else (self._count(text), True)

    def _measure_blocks(
        self, value: Any, room: int, most: int | None = None, *, only_scalars: bool = False
    ) -> Iterator[tuple[list[Any], int]]:
        # The entries of a list, or the items of an object, with their tokens: small ones, or only
        # scalars, together where they surely fit, and others alone. `most` is the limit of one
        # entry, the room by default.
        is_object = isinstance(value, dict)
        entries: Iterator[Any] = iter(value.items() if is_object else value)
        used, length = 2, LARGE_BLOCK
        while block := list(islice(entries, length)):
            limit = room - used if most is None else most
            fitting = min(limit, room - used) - 1
            size = sys.maxsize
            # All entries together were too much already.
            if len(block) < len(value):
                members = dict(block) if is_object else block
                size = self._measure_block(members, fitting, only_scalars=only_scalars)
            if size <= fitting:
                used += size
                yield block, size
            elif length > SMALL_BLOCK:
                length //= SMALL_BLOCK
                entries = chain(block, entries)
                continue
            else:
                for entry in block:
                    member = entry[1] if is_object else entry
                    size = self.measure(member, room - used if most is None else most) + 1
                    size += self._count_plain(entry[0]) + 1 if is_object else 0
                    used += size
                    yield [entry], size

    def _measure_block(self, block: Any, most: int, *, only_scalars: bool) -> int:
        # Any number above `most` for entries that are measured alone.
        entries = block.values() if isinstance(block, dict) else block
        if only_scalars and not CONTAINERS.isdisjoint(map(type, entries)):
            return sys.maxsize
        # The same entries are in what is left of a list.
        key = tuple(map(id, block)), tuple(map(id, entries))
        _, known, is_exact = self._blocks.get(key, (None, 0, False))
        if is_exact or known > most:
            return known
        if is_small(block):
            self._plain.update(map(id, entries))
            known, is_exact = self._count_json(block, most)
        else:
            known, is_exact = sys.maxsize, True
        self._blocks[key] = (block, known, is_exact)
        return known

    def _cut_value(self, value: Any, path: Path, room: int, *, is_row: bool = False) -> Any:
        if len(path) >= MAX_DEPTH:
            return None if is_row else self._keep_entries(value, path, 0)
        if isinstance(value, list):
            return self._cut_list(value, path, room)
        return self._cut_object(value, path, room, is_row=is_row)

    def _cut_list(self, rows: list[Any], path: Path, room: int) -> list[Any]:
        kept: list[Any] = []
        long: list[tuple[int, int]] = []
        used = 2
        for block, size in self._measure_blocks(rows, room, room // 2 + 1):
            if size > room // 2:
                (row,) = block
                if id(row) not in self._short_rows:
                    short = reduce_row(row)
                    self._short_rows[id(row)] = short, self._count_plain(short) + 1
                short, size = self._short_rows[id(row)]
                long.append((len(kept), size))
                block = [short]
            if used + size > room:
                break
            used += size
            kept += block
        self._keep_entries(rows, path, len(kept))
        long = [entry for entry in long if entry[0] < len(kept)]
        left = room - used
        for number, (index, size) in enumerate(long):
            share = min(max(left // (len(long) - number), room // 8), left) + size
            kept[index] = self._fit_row(rows[index], (*path, index), share, left + size)
            left -= self.measure(kept[index], room) - size
        return kept

    def _fit_row(self, row: Any, path: Path, share: int, left: int) -> Any:
        if self.measure(row, left) <= left:
            return row
        if isinstance(row, (dict, list)) and share > MIN_EXCERPT_TOKENS:
            mark = (len(self._omitted), len(self._reduced))
            small = self._cut_value(row, path, share, is_row=True)
            if small is not None and self.measure(small, share) <= share:
                return small
            # The row is reduced as a whole.
            del self._omitted[mark[0] :]
            del self._reduced[mark[1] :]
        small = reduce_row(row)
        if small != row:
            self._reduced.append(path)
        return small

    def _cut_object(
        self, value: dict[str, Any], path: Path, room: int, *, is_row: bool
    ) -> dict[str, Any] | None:
        sizes: dict[str, int] = {}
        whole, fixed, count = 2, 2, 0
        for block, size in self._measure_blocks(value, room, room, only_scalars=True):
            whole += size
            name, member = block[0]
            if member and isinstance(member, (dict, list)) and not is_digest(member):
                # The name and the brackets of a list always stay.
                label = self._count_plain(name) + 2
                sizes[name] = size - label
                fixed += label + 2
            else:
                fixed += size
            if fixed > room:
                return None if is_row else self._keep_entries(value, path, count)
            count += len(block) if whole <= room else 0
        left = room - fixed + 2 * len(sizes)
        small = dict(value)
        # The shortest first: longer lists share what shorter ones leave.
        for number, name in enumerate(sorted(sizes, key=sizes.__getitem__)):
            share = left // (len(sizes) - number)
            if sizes[name] > share:
                small[name] = self._cut_value(value[name], (*path, name), share)
            left -= min(self.measure(small[name], share), share)
        return small

    def _keep_entries(self, value: Any, path: Path, count: int) -> Any:
        if count < len(value):
            self._omitted.append(OmittedEntries(path, count, len(value)))
        if isinstance(value, dict):
            return dict(list(value.items())[:count])
        return value[:count]


def is_small(value: dict[str, Any] | list[Any]) -> bool:
    """Return whether a value has few entries, and no text that could be shortened by itself."""
    left, characters = MOST_SMALL, MOST_SMALL_TEXT
    waiting: list[Any] = [value]
    while waiting:
        inner = waiting.pop()
        left -= len(inner)
        if left < 0:
            return False
        for member in inner.values() if inner.__class__ is dict else inner:
            kind = member.__class__
            if kind is dict or kind is list:
                waiting.append(member)
            elif kind is str:
                characters -= len(member)
                if characters < 0 or len(member) > LONG_TEXT_TOKENS:
                    return False
    return True


def find_texts(
    tree: Any, is_long: Callable[[str], bool], is_plain: Callable[[Any], bool]
) -> Iterator[tuple[Path, str]]:
    """Yield the long texts of an answer with their paths, without those of digests.

    What `is_plain` has none.
    """
    waiting: list[tuple[Path, Any]] = [((), tree)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            if is_long(value):
                yield path, value
        elif isinstance(value, (dict, list)) and len(path) < MAX_DEPTH and not is_digest(value):
            inner = value.values() if isinstance(value, dict) else value
            if {dict, list, str}.isdisjoint(map(type, inner)):
                continue
            members = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += reversed(
                [
                    ((*path, key), member)
                    for key, member in members
                    if (isinstance(member, (dict, list)) and not is_plain(member))
                    or (isinstance(member, str) and len(member) > LONG_TEXT_TOKENS)
                ]
            )


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
    if any(isinstance(key, str) and AMBIGUOUS.search(key) for key in path):
        text: str = JSONPointer.from_path(path)
    else:
        parts = (f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
        text = "".join(parts).removeprefix(".")
        text = text if path and isinstance(path[0], str) else f"data{text}"
    text = to_bytes(text).decode()
    if len(text) <= MAX_NAME_LENGTH:
        return text
    return f"{text[:MAX_NAME_LENGTH]}~{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def format_positions(path: Path, start: int, end: int) -> Iterator[str]:
    """Yield the paths of some entries of a list, as `format_path` writes them."""
    longest = format_path((*path, end))
    if len(longest) > MAX_NAME_LENGTH:
        yield from (format_path((*path, index)) for index in range(start, end))
    else:
        before, _, after = longest.rpartition(str(end))
        yield from (f"{before}{index}{after}" for index in range(start, end))


def is_digest(value: Any) -> bool:
    """Return whether a text, or an object, is a digest, which is never shortened."""
    if isinstance(value, str) and len(value) < MAX_DIGEST_LENGTH and "digest/v1" in value:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return False
    return isinstance(value, dict) and value.get("content_type") == "digest/v1"


def get_identifier(row: Any) -> str | None:
    """Return the primary key of a row as text, None if the row shows no key."""
    if isinstance(row, OBJECTS):
        for name in IDENTIFIERS:
            if _is_label(row.get(name)):
                text = str(row[name])
                return text if text.isascii() else to_bytes(text).decode()
    return None


def reduce_row(row: Any) -> Any:
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
