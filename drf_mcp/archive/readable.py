"""Of archived items those that the caller may still read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import APIException, NotFound

from drf_mcp.exceptions import contain
from drf_mcp.json_text import encode_plain

Item: TypeAlias = Mapping[str, Any]
Items: TypeAlias = Sequence[Item]

logger = logging.getLogger("drf_mcp")

# REST framework resolves it.
GONE = _(
    "There is no such content for you: it has expired, has made room for newer results of yours, "
    "or the id is not exactly the one in content_archive_hashes. Call the tool that gave it again, "
    "asking for less."
)
MEMBERS = ("id", "pointer", "length", "value")
# So many items are looked at together for how long they are.
AT_ONCE = 50


class ArchiveUnavailable(APIException):
    """The archive cannot be read at the moment."""

    status_code = 503
    default_detail = _("What was left out cannot be read at the moment.")
    default_code = "service_unavailable"


class ReadableItems:
    """Archived items, of which the caller is given those that the call would still answer.

    Args:
        items: all of them, or a sequence that reads them when they are needed.
        question: gives those of some items that the caller may read.
    """

    def __init__(self, items: Items, question: Callable[[Items], Items]) -> None:
        self.items = items
        self.question = question

    def ask(self, items: Items) -> Items:
        """Return those of the items that the caller may read, without what tells who may."""
        return list(self.ask_numbered(items, 0).values())

    def ask_for_all(self) -> Items:
        """Return all that the caller may read.

        Raises:
            NotFound: if there is nothing.
        """
        found = self.ask(self.items)
        if not found:
            raise NotFound(GONE)
        return found

    def find_from(self, first: int, most: int | None, length: int) -> tuple[dict[int, Item], int]:
        """Return the next items by their numbers, and the number of the item after them.

        What is read and asked about is about as long as one slice, unless none of it may be read.

        Args:
            first: the number of the first item.
            most: how many items are looked at; None for any number.
            length: about how many characters the items may have together.

        Raises:
            NotFound: if the caller may read nothing of the whole content.
        """
        window: list[Item] = contain(lambda: self.take(first, most, length), raise_unavailable)
        end = first + len(window)
        found = self.ask_numbered(window, first)
        if found:
            return found, end
        # Either nothing may be read any more, or this part of it.
        everything = self.ask_numbered(self.items, 0)
        if not everything:
            raise NotFound(GONE)
        later = {number: item for number, item in everything.items() if number >= end}
        return later, len(self.items)

    def take(self, first: int, most: int | None, length: int) -> list[Item]:
        taken: list[Item] = []
        total = len(self.items)
        end = total if most is None else min(first + most, total)
        while first + len(taken) < end and length > 0:
            start = first + len(taken)
            for item in self.items[start : min(start + AT_ONCE, end)]:
                if length <= 0:
                    break
                taken.append(item)
                length -= len(encode_plain(item))
        return taken

    def ask_numbered(self, items: Items, first: int) -> dict[int, Item]:
        read = contain(lambda: list(items), raise_unavailable)
        numbered = [{**item, "place": number} for number, item in enumerate(read, first)]
        found = self.question(numbered)
        return {
            item["place"]: {name: item[name] for name in MEMBERS if name in item} for item in found
        }


def raise_unavailable(exc: Exception) -> NoReturn:
    logger.warning("The archive could not be read", exc_info=exc)
    raise ArchiveUnavailable from None
