"""Withholds the archived items that the caller may no longer read."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import NotFound

from drf_mcp.exceptions import Unavailable, contain
from drf_mcp.json_text import encode_plain
from drf_mcp.truncation.rows import find_value, replace_values

Item: TypeAlias = Mapping[str, Any]

logger = logging.getLogger("drf_mcp")

GONE = _(
    "There is no such content for you: it has expired, your rights have changed since, or the id "
    "is not exactly the one in content_archive_hashes. Call the tool that gave it again, asking "
    "for less; a change is not to be made again."
)
UNREADABLE = _("What was left out cannot be read at the moment.")
ITEMS_PER_READ = 50


@dataclass(frozen=True)
class Withheld:
    """The part of an entry that the caller may not read.

    Attributes:
        keys: the keys of the rows.
        items: the numbers of the items that are such rows, or parts of them.
        lists: for the number of an item that holds several rows, the path of each list in it
            and the keys of the rows of that list.
    """

    keys: frozenset[Any] = frozenset()
    items: frozenset[int] = frozenset()
    lists: Mapping[int, Sequence[Any]] | None = None

    @classmethod
    def of(cls, keys: frozenset[Any], rows: Iterable[Any]) -> Withheld:
        """Return what is withheld of the items of some rows, see `Entry.rows`."""
        items, lists = set(), {}
        for number, row in enumerate(rows if keys else ()):
            if isinstance(row, list):
                lists[number] = row
            elif row in keys:
                items.add(number)
        return cls(keys, frozenset(items), lists)

    def remove_from(self, item: Item, number: int) -> Item | None:
        """Return the readable part of the item of a number, None if it is withheld."""
        if number in self.items:
            return None
        lists = (self.lists or {}).get(number)
        if lists is None:
            return item
        value, kept = item["value"], {}
        for path, keys in lists:
            both = list(zip(find_value(value, path), keys, strict=True))
            if any(isinstance(key, int) for key in keys):
                # The answers about several objects keep their positions.
                kept[tuple(path)] = [None if key in self.keys else each for each, key in both]
            else:
                kept[tuple(path)] = [each for each, key in both if key not in self.keys]
        value = replace_values(value, kept)
        return {**item, "value": value, **({"length": len(value)} if "length" in item else {})}


class WithheldCache:
    """Remembers what is withheld of an entry, so that the slices of one reading ask once."""

    seconds = 5.0
    max_entries = 1024

    def __init__(self) -> None:
        self.found: dict[Any, tuple[float, Withheld]] = {}

    def get(self, key: Any, find: Callable[[], Withheld]) -> Withheld:
        """Return what is withheld; an exception is not remembered."""
        until, withheld = self.found.get(key, (0.0, Withheld()))
        if until > time.monotonic():
            return withheld
        withheld = find()
        if key is not None and self.seconds:
            if len(self.found) >= self.max_entries:
                self.found.clear()
            self.found[key] = (time.monotonic() + self.seconds, withheld)
        return withheld


withheld_cache = WithheldCache()


class ReadableItems:
    """The items of an entry without those that are withheld."""

    def __init__(self, items: Sequence[Item], withheld: Withheld) -> None:
        self.items = items
        self.withheld = withheld
        if not len(self):
            raise NotFound(GONE)

    def __len__(self) -> int:
        return len(self.items) - len(self.withheld.items)

    def find(self, numbers: Collection[int] | None = None) -> list[Item]:
        items = contain(lambda: list(self.items), raise_unavailable)
        readable = (
            self.withheld.remove_from(item, number)
            for number, item in enumerate(items)
            if numbers is None or number in numbers
        )
        return [item for item in readable if item is not None]

    def find_from(self, first: int, most: int | None, length: int) -> tuple[dict[int, Item], int]:
        """Return the next items by their numbers, and the number of the item after them."""
        # `length` is about how many characters the items may have together.
        found: dict[int, Item] = {}
        end = first
        while end < len(self.items) and length > 0 and (most is None or len(found) < most):
            for item in self.items[end : end + ITEMS_PER_READ]:
                readable = self.withheld.remove_from(item, end)
                if readable is not None:
                    found[end] = readable
                    length -= len(encode_plain(readable))
                end += 1
                if length <= 0 or len(found) == most:
                    break
        return found, end


def raise_unavailable(exc: Exception) -> NoReturn:
    logger.warning("The archive could not be read", exc_info=exc)
    raise Unavailable(UNREADABLE) from None
