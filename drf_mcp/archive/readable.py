"""Of archived items those that the caller may still read."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import APIException, NotFound

from drf_mcp.exceptions import contain
from drf_mcp.json_text import encode_plain
from drf_mcp.truncation.paths import find_value, replace_values

Item: TypeAlias = Mapping[str, Any]
Items: TypeAlias = Sequence[Item]

logger = logging.getLogger("drf_mcp")

# REST framework resolves it.
GONE = _(
    "There is no such content for you: it has expired, your rights have changed since, or the id "
    "is not exactly the one in content_archive_hashes. Call the tool that gave it again, asking "
    "for less; a change is not to be made again."
)
# So many items are looked at together for how long they are.
AT_ONCE = 50


class ArchiveUnavailable(APIException):
    """The archive cannot be read at the moment."""

    status_code = 503
    default_detail = _("What was left out cannot be read at the moment.")
    default_code = "service_unavailable"


@dataclass(frozen=True)
class Withheld:
    """What a caller may not read of archived items.

    Attributes:
        keys: of the rows.
        items: the numbers of the items that are such rows, or parts of them.
        parts: of items that hold several rows the way to each list in them, with the keys of its
            rows, by the number of the item.
    """

    keys: frozenset[Any] = frozenset()
    items: frozenset[int] = frozenset()
    parts: Mapping[int, Sequence[Any]] | None = None

    @classmethod
    def of(cls, keys: frozenset[Any], rows: Iterable[Any]) -> Withheld:
        """Return what is withheld of items with these rows, see `Entry`."""
        items, parts = set(), {}
        for number, row in enumerate(rows if keys else ()):
            if isinstance(row, list):
                parts[number] = row
            elif row in keys:
                items.add(number)
        return cls(keys, frozenset(items), parts)

    def take_from(self, item: Item, number: int) -> Item:
        """Return an item that holds several rows without those that are withheld."""
        parts = (self.parts or {}).get(number)
        if parts is None:
            return item
        value = item["value"]
        left = {tuple(path): self.leave(find_value(value, path), keys) for path, keys in parts}
        value = replace_values(value, left)
        return {**item, "value": value, **({"length": len(value)} if "length" in item else {})}

    def leave(self, values: Sequence[Any], keys: Sequence[Any]) -> list[Any]:
        # The place of an answer about one of several objects says which object it is of.
        both = list(zip(values, keys, strict=True))
        if any(isinstance(key, int) for key in keys):
            return [None if key in self.keys else value for value, key in both]
        return [value for value, key in both if key not in self.keys]


class RecentlyWithheld:
    """What was withheld of some contents a moment ago, in the memory of this process.

    Attributes:
        seconds: for so long the rights to a content are not asked again.
        most: so many contents are remembered.
    """

    seconds = 5.0
    most = 1024

    def __init__(self) -> None:
        self.found: OrderedDict[Any, tuple[float, Withheld]] = OrderedDict()
        self.lock = threading.Lock()

    def get(self, key: Any, find: Callable[[], Withheld]) -> Withheld:
        """Return what is withheld of a content; what raises an exception is asked anew.

        Args:
            key: of the content and its reader, None for a reader whom nothing identifies.
        """
        until, withheld = self.found.get(key, (0.0, Withheld()))
        if until > time.monotonic():
            return withheld
        withheld = find()
        if key is not None and self.seconds:
            with self.lock:
                self.found[key] = (time.monotonic() + self.seconds, withheld)
                self.found.move_to_end(key)
                while len(self.found) > self.most:
                    self.found.popitem(last=False)
        return withheld


recently_withheld = RecentlyWithheld()


class ReadableItems:
    """Archived items without what their reader may not read.

    Args:
        items: all of them, or a sequence that reads them when they are needed.

    Raises:
        NotFound: if nothing is left.
    """

    def __init__(self, items: Items, withheld: Withheld) -> None:
        self.items = items
        self.withheld = withheld
        if not len(self):
            raise NotFound(GONE)

    def __len__(self) -> int:
        return len(self.items) - len(self.withheld.items)

    def find_all(self) -> list[Item]:
        return list(self.number(contain(lambda: list(self.items), raise_unavailable), 0).values())

    def find_from(self, first: int, most: int | None, length: int) -> tuple[dict[int, Item], int]:
        """Return the next items by their numbers, and the number of the item after them.

        What is read is about as long as one slice.

        Args:
            first: the number of the first item.
            most: how many items are looked for; None for any number.
            length: about how many characters the items may have together.
        """
        found: dict[int, Item] = {}
        end = first
        while end < len(self.items) and length > 0 and (most is None or len(found) < most):
            read = self.read(end, min(end + AT_ONCE, len(self.items)))
            for number, item in enumerate(read, end):
                end = number + 1
                kept = self.number([item], number)
                found |= kept
                length -= sum(len(encode_plain(each)) for each in kept.values())
                if length <= 0 or len(found) == most:
                    break
        return found, end

    def read(self, start: int, end: int) -> Items:
        read: Items = contain(lambda: self.items[start:end], raise_unavailable)
        return read

    def number(self, items: Items, first: int) -> dict[int, Item]:
        return {
            number: self.withheld.take_from(item, number)
            for number, item in enumerate(items, first)
            if number not in self.withheld.items
        }

    def keep_readable(self, asked: Collection[int]) -> list[Item]:
        """Return those of the items with these numbers that may be read."""
        every = contain(lambda: list(self.items), raise_unavailable)
        return [item for number, item in self.number(every, 0).items() if number in asked]


def raise_unavailable(exc: Exception) -> NoReturn:
    logger.warning("The archive could not be read", exc_info=exc)
    raise ArchiveUnavailable from None
