"""Cuts the rows of an answer to a number of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from drf_mcp.json_text import encode_plain
from drf_mcp.truncation.paths import Path, is_digest, reduce_row
from drf_mcp.truncation.report import OmittedEntries, Reduction

# A value at this depth is kept or left out as a whole.
MAX_DEPTH = 64
# The scalars of a list that are measured at once.
BLOCK_SIZE = 32
# A text with more tokens than this can be cut to its beginning, or digested.
LONG_TEXT_TOKENS = 400
# A digest has hashes and counts, too.
MIN_EXCERPT_TOKENS = 300


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
        return len(text) > 4 * LONG_TEXT_TOKENS or self.count(encode_plain(text)) > LONG_TEXT_TOKENS

    def measure(self, value: Any, most: int) -> int:
        """Return the tokens of a value, any number above ``most`` if it has more.

        A long text counts as its shortest excerpt.
        """
        if isinstance(value, str) and self.is_long(value):
            return MIN_EXCERPT_TOKENS
        if not isinstance(value, (dict, list)):
            return self.count(encode_plain(value))
        if is_digest(value) or self._is_flat(value):
            return self.count(encode_plain(value))
        used = 2
        for _, _, size in self._measure_entries(value, most):
            used += size
            if used > most:
                break
        return used

    def _measure_entries(
        self, value: dict[str, Any] | list[Any], room: int, most: int | None = None
    ) -> Iterator[tuple[Any, Any, int]]:
        # Keys, entries and their tokens. `most` is the limit of one entry, the room by default.
        is_object = isinstance(value, dict)
        entries: Iterator[tuple[Any, Any]]
        entries = iter(value.items()) if isinstance(value, dict) else enumerate(value)
        used = 0
        while block := list(islice(entries, BLOCK_SIZE)):
            members: Any = dict(block) if is_object else [entry for _, entry in block]
            # Scalars are measured together, as long as they surely fit.
            if self._is_flat(members):
                size = self.count(encode_plain(members))
                if used + size < room:
                    each, rest = divmod(size, len(block))
                    for number, (key, entry) in enumerate(block):
                        yield key, entry, each + (number < rest)
                    used += size
                    continue
            for key, entry in block:
                size = self.measure(entry, room - used if most is None else most) + 1
                size += self.count(encode_plain(key)) + 1 if is_object else 0
                used += size
                yield key, entry, size

    def _is_flat(self, value: Any) -> bool:
        # Measured at once, whatever the room.
        members = value.values() if isinstance(value, dict) else value
        return len(value) <= BLOCK_SIZE and all(
            member.__class__ is not dict
            and member.__class__ is not list
            and not (member.__class__ is str and len(member) > LONG_TEXT_TOKENS)
            for member in members
        )

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
        for _, row, size in self._measure_entries(rows, room, room // 2 + 1):
            if size > room // 2:
                row = reduce_row(row)
                size = self.count(encode_plain(row)) + 1
                long.append((len(kept), size))
            if used + size > room:
                break
            used += size
            kept.append(row)
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
        for name, member, size in self._measure_entries(value, room, room):
            whole += size
            if member and isinstance(member, (dict, list)) and not is_digest(member):
                # The name and the brackets of a list always stay.
                label = self.count(encode_plain(name)) + 2
                sizes[name] = size - label
                fixed += label + 2
            else:
                fixed += size
            if fixed > room:
                return None if is_row else self._keep_entries(value, path, count)
            count += whole <= room
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


def find_texts(tree: Any, is_long: Callable[[str], bool]) -> Iterator[tuple[Path, str]]:
    """Yield the long texts of an answer with their paths, without those of digests."""
    waiting: list[tuple[Path, Any]] = [((), tree)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            if is_long(value):
                yield path, value
        elif isinstance(value, (dict, list)) and len(path) < MAX_DEPTH and not is_digest(value):
            members = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += reversed(
                [
                    ((*path, key), member)
                    for key, member in members
                    if isinstance(member, (dict, list))
                    or (isinstance(member, str) and len(member) > LONG_TEXT_TOKENS)
                ]
            )
