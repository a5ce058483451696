"""Making an answer shorter by whole rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from drf_mcp.json_text import encode_plain
from drf_mcp.truncation.identifiers import reference
from drf_mcp.truncation.json_paths import DEEPEST, Path, Sizes

WIDE = 32
"""An object with more members is a collection, like a list, unless it is a row itself."""
LISTS_WITHIN_LISTS = 16
"""How deep lists can stand in lists and still keep as many rows as fit."""


@dataclass(frozen=True)
class Lost:
    """Entries of one collection that are not whole any longer.

    Attributes:
        path: where the list or object stands.
        keys: the positions or names of the entries.
    """

    path: Path
    keys: Sequence[str | int]

    @property
    def paths(self) -> Iterator[Path]:
        """Where the entries stood."""
        return ((*self.path, key) for key in self.keys)


@dataclass(frozen=True)
class Trimmed:
    """An answer that has lost rows.

    Attributes:
        value: what is left.
        dropped: the rows, or members of objects, that are gone.
        reduced: the rows of which identifiers and label are left.
    """

    value: Any
    dropped: tuple[Lost, ...] = ()
    reduced: tuple[Lost, ...] = ()


def trim(
    tree: Any, room: int, fits: Callable[[Trimmed], bool], *, keep_root: bool = False
) -> Trimmed | None:
    """Return the answer with as few rows missing as fit, None if no rows can be missed.

    A level is looked for by bisection: the length to which every list is cut at its tail,
    and a list within a list to half of that, so that one row cannot take the place of
    all. Then lists within rows may have more, as long as no row is lost by it. Where
    cutting lists is not enough, objects are cut like lists.

    Args:
        tree: the answer as plain JSON.
        room: no answer can be longer than this many characters.
        fits: tells whether a trimmed answer is short enough.
        keep_root: True if the answer itself must keep all of its members.
    """
    sizes = Sizes()
    for wide in (WIDE, 0) if isinstance(tree, (dict, list)) else ():
        attempt = partial(trimmed_to, tree, sizes, room, wide, keep_root)

        def is_short(trimmed: Trimmed) -> bool:
            return sizes.of(trimmed.value) <= room and fits(trimmed)

        best = bisected(attempt, 1, room + 1, is_short)
        if best is not None:
            return with_more_inside(best, attempt, room, is_short)
    return None


def with_more_inside(
    best: Trimmed, attempt: Callable[[int], Trimmed], room: int, fits: Callable[[Trimmed], bool]
) -> Trimmed:
    """Return an answer of as many rows whose own lists keep more, where there is room."""
    rows = rows_lost(best)

    def is_no_worse(trimmed: Trimmed) -> bool:
        return rows_lost(trimmed) <= rows and fits(trimmed)

    return bisected(attempt, room, room << LISTS_WITHIN_LISTS, is_no_worse) or best


def rows_lost(trimmed: Trimmed) -> int:
    """Return how many rows are not whole that are in no other row."""
    outermost = (
        lost
        for lost in (*trimmed.dropped, *trimmed.reduced)
        if not any(isinstance(key, int) for key in lost.path)
    )
    return sum(len(lost.keys) for lost in outermost)


def trimmed_to(
    tree: Any, sizes: Sizes, room: int, wide: int, keep_root: bool, level: int
) -> Trimmed:
    """Return the answer with its collections cut to a level."""
    trimming = Trimming(sizes, wide)
    value = trimming.trim(tree, (), level, room, whole=keep_root)
    return Trimmed(value, tuple(trimming.dropped), tuple(trimming.reduced))


def bisected(
    attempt: Callable[[int], Trimmed], low: int, high: int, fits: Callable[[Trimmed], bool]
) -> Trimmed | None:
    """Return the answer trimmed to the highest level at which it fits, None if there is none.

    Args:
        attempt: trims the answer to a level.
        low: a level below all that are tried.
        high: a level above all that are tried.
        fits: tells whether a trimmed answer will do.
    """
    best: Trimmed | None = None
    worst: Trimmed | None = None
    while low < high - 1:
        level = (low + high) // 2
        trimmed = attempt(level)
        # Most levels close to each other cut alike, and measuring is what costs.
        if trimmed == best or (trimmed != worst and fits(trimmed)):
            best, low = trimmed, level
        else:
            worst, high = trimmed, level
    return best


class Trimming:
    """One pass over an answer at one level."""

    def __init__(self, sizes: Sizes, wide: int) -> None:
        self.sizes = sizes
        self.wide = wide
        self.dropped: list[Lost] = []
        self.reduced: list[Lost] = []

    def trim(self, node: Any, path: Path, level: int, room: int, *, whole: bool = False) -> Any:
        """Return a value with its collections cut to the level, and to what room there is.

        Args:
            node: the value.
            path: where it stands.
            level: the longest a collection may be.
            room: how long the value may be.
            whole: True if the value is a row, which keeps all of its members.
        """
        if not isinstance(node, (dict, list)) or len(path) >= DEEPEST:
            return node
        if self.sizes.of(node) <= min(level, room):
            return node
        if isinstance(node, list):
            kept = [row for _, row in self.kept(enumerate(node), path, level, room, rows=True)]
            self.lose(path, range(len(kept), len(node)))
            return kept
        if len(node) > self.wide and not whole:
            members = dict(self.kept(node.items(), path, level, room, rows=len(node) > WIDE))
            self.lose(path, list(node)[len(members) :])
            return members
        return dict(self.members(node, path, level, room))

    def members(
        self, node: dict[str, Any], path: Path, level: int, room: int
    ) -> Iterator[tuple[str, Any]]:
        """Yield all members of an object, the collections among them in the room of the others."""
        collections = [member for member in node.values() if isinstance(member, (dict, list))]
        room -= self.sizes.of(node) - sum(map(self.sizes.of, collections))
        for name, member in node.items():
            small = self.trim(member, (*path, name), level, room)
            if isinstance(member, (dict, list)):
                room -= self.sizes.of(small)
            yield name, small

    def lose(self, path: Path, keys: Sequence[str | int]) -> None:
        """Note which entries of a collection are gone."""
        if keys:
            self.dropped.append(Lost(path, keys))

    def kept(
        self, entries: Iterable[tuple[Any, Any]], path: Path, level: int, room: int, *, rows: bool
    ) -> Iterator[tuple[Any, Any]]:
        """Yield the first entries of a collection, as many as fit."""
        used = 2
        for key, node in entries:
            mark = (len(self.dropped), len(self.reduced))
            named = len(encode_plain(key)) + 1 if isinstance(key, str) else 0
            small = self.shortened(node, (*path, key), level, room - named - 3, row=rows)
            used += self.sizes.of(small) + 1 + named
            if used > min(level, room):
                self.rewind(*mark)
                break
            yield key, small

    def shortened(self, node: Any, path: Path, level: int, room: int, *, row: bool) -> Any:
        """Return an entry with its own lists cut; a row still too long as a reference."""
        mark = (len(self.dropped), len(self.reduced))
        small = self.trim(node, path, level // 2, room, whole=row)
        if not row or self.sizes.of(small) <= min(level, room):
            return small
        self.rewind(*mark)
        small = reference(node)
        if small != node:
            self.reduced.append(Lost(path[:-1], path[-1:]))
        return small

    def rewind(self, dropped: int, reduced: int) -> None:
        """Forget what was noted of an entry that is gone itself."""
        del self.dropped[dropped:]
        del self.reduced[reduced:]
