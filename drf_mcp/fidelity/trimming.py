"""Making an answer shorter by whole rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from drf_mcp.encoding import encode_data
from drf_mcp.fidelity.identifiers import reference
from drf_mcp.fidelity.trees import DEEPEST, Path, Sizes

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
    all. Where cutting lists is not enough, objects are cut like lists.

    Args:
        tree: the answer as plain JSON.
        room: no answer can be longer than this many characters.
        fits: tells whether a trimmed answer is short enough.
        keep_root: True if the answer itself must keep all of its members.
    """
    sizes = Sizes()
    for wide in (WIDE, 0) if isinstance(tree, (dict, list)) else ():
        attempt = partial(trimmed_to, tree, sizes, room, wide, keep_root)
        best = bisected(attempt, room, lambda it: sizes.of(it.value) <= room and fits(it))
        if best is not None:
            return best
    return None


def trimmed_to(
    tree: Any, sizes: Sizes, room: int, wide: int, keep_root: bool, level: int
) -> Trimmed:
    """Return the answer with its collections cut to a level."""
    trimming = Trimming(sizes, room, wide)
    value = trimming.trim(tree, (), level, whole=keep_root)
    return Trimmed(value, tuple(trimming.dropped), tuple(trimming.reduced))


def bisected(
    attempt: Callable[[int], Trimmed], room: int, fits: Callable[[Trimmed], bool]
) -> Trimmed | None:
    """Return the answer trimmed to the highest level at which it fits, None if there is none."""
    best: Trimmed | None = None
    worst: Trimmed | None = None
    low, high = 1, room << LISTS_WITHIN_LISTS
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

    def __init__(self, sizes: Sizes, room: int, wide: int) -> None:
        self.sizes = sizes
        self.room = room
        self.wide = wide
        self.dropped: list[Lost] = []
        self.reduced: list[Lost] = []

    def trim(self, node: Any, path: Path, level: int, *, whole: bool = False) -> Any:
        """Return a value with its collections cut to the level.

        Args:
            node: the value.
            path: where it stands.
            level: the longest a collection may be.
            whole: True if the value is a row, which keeps all of its members.
        """
        if not isinstance(node, (dict, list)) or len(path) >= DEEPEST:
            return node
        if self.sizes.of(node) <= min(level, self.room):
            return node
        if isinstance(node, list):
            kept = [row for _, row in self.kept(enumerate(node), path, level, rows=True)]
            self.lose(path, range(len(kept), len(node)))
            return kept
        if len(node) > self.wide and not whole:
            members = dict(self.kept(node.items(), path, level, rows=len(node) > WIDE))
            self.lose(path, list(node)[len(members) :])
            return members
        return {name: self.trim(member, (*path, name), level) for name, member in node.items()}

    def lose(self, path: Path, keys: Sequence[str | int]) -> None:
        """Note which entries of a collection are gone."""
        if keys:
            self.dropped.append(Lost(path, keys))

    def kept(
        self, entries: Iterable[tuple[Any, Any]], path: Path, level: int, *, rows: bool
    ) -> Iterator[tuple[Any, Any]]:
        """Yield the first entries of a collection, as many as fit."""
        used = 2
        for key, node in entries:
            mark = (len(self.dropped), len(self.reduced))
            small = self.shortened(node, (*path, key), level, row=rows)
            used += self.sizes.of(small) + 1
            used += len(encode_data(key)) + 1 if isinstance(key, str) else 0
            if used > min(level, self.room):
                self.rewind(*mark)
                break
            yield key, small

    def shortened(self, node: Any, path: Path, level: int, *, row: bool) -> Any:
        """Return an entry with its own lists cut; a row still too long as a reference."""
        mark = (len(self.dropped), len(self.reduced))
        small = self.trim(node, path, level // 2, whole=row)
        if not row or self.sizes.of(small) < min(level, self.room):
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
