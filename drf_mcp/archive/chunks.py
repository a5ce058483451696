"""Slices of archived items, each short enough for a result."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from drf_mcp.archive.readable import Item, ReadableItems
from drf_mcp.archive.search import Passage
from drf_mcp.json_text import JSONPointer, encode_plain
from drf_mcp.truncation.paths import format_path
from drf_mcp.truncation.tokens import CHARS_PER_TOKEN, count_tokens, cut_text

# Tokens of what an envelope says beside the data.
ENVELOPE_ROOM = 400
POSITIONS = re.compile(r"(.*)\[(\d+):(\d+)\]", re.DOTALL)


class Slicer:
    """Cuts slices of archived items.

    Args:
        limit: the most tokens of a result, None for any number.
        offset: where the slice starts: an item, a value of a list, or a character of one text.
        most: the most of these in a slice, None for as many as fit.
    """

    def __init__(self, limit: int | None, offset: int, most: int | None) -> None:
        self.room = 10**9 if limit is None else max(limit - ENVELOPE_ROOM, limit // 3)
        self.offset = offset
        self.most = most

    def slice(self, items: Sequence[Item], form: Callable[[str], str] | None) -> dict[str, Any]:
        """Return a slice of the items, or of the one item that is a text, a list, or too long.

        Args:
            items: the items.
            form: puts a text into the form that its digest refers to; None for the text itself.
        """
        if len(items) != 1:
            return self.slice_items(items)
        (item,) = items
        value = item["value"]
        if isinstance(value, str):
            return self.slice_text(item, "text", value if form is None else form(value))
        if "length" in item:
            return self.slice_values(item)
        if self.measure(item) > self.room:
            return self.slice_text(item, "json", encode_plain(value))
        return self.slice_items(items)

    def slice_text(self, item: Item, kind: str, text: str) -> dict[str, Any]:
        named = self.name(item)
        part = text[self.offset :][: self.most]
        part = cut_text(part, self.room - self.measure(named), self.count) or part[:1]
        return {
            **named,
            "format": kind,
            **self.get_progress(len(part), "total_chars", len(text)),
            "text": part,
        }

    def slice_values(self, item: Item) -> dict[str, Any]:
        named, values = self.name(item), item["value"]
        room = self.room - self.measure(named)
        part = list(self.fit(values[self.offset :][: self.most], room))
        return {
            **named,
            "format": "values",
            **self.get_progress(len(part), "total_count", len(values)),
            "values": part,
        }

    def slice_items(self, items: Sequence[Item]) -> dict[str, Any]:
        """Return a slice of several items, whole ones only; of one that never fits, its size."""
        part = items[self.offset :][: self.most]
        found = list(self.fit(map(self.shorten, part), self.room))
        return {**self.get_progress(len(found), "total_count", len(items)), "items": found}

    def slice_window(self, readable: ReadableItems) -> dict[str, Any]:
        """Return a slice of many items, of which no others are read."""
        length = CHARS_PER_TOKEN * self.room
        found, end = readable.find_from(self.offset, self.most, length)
        part = list(self.fit(map(self.shorten, found.values()), self.room))
        following = [*list(found)[len(part) :], end][0]
        return {
            "offset": self.offset,
            "next_offset": following if part and following < len(readable.items) else None,
            "total_count": len(readable),
            "items": part,
        }

    def slice_passages(self, passages: Sequence[Passage]) -> dict[str, Any]:
        part = passages[self.offset :][: self.most]
        found = list(self.fit(map(self.quote, part), self.room))
        return {**self.get_progress(len(found), "total_count", len(passages)), "passages": found}

    def fit(self, values: Any, room: int) -> Iterator[Any]:
        """Yield the first values, as many as fit, and one at least."""
        for number, value in enumerate(values):
            room -= self.measure(value) + 1
            if room < 0 and number:
                return
            yield value

    def shorten(self, item: Item) -> Item:
        """Return an item, of one that no slice can hold the size."""
        size = self.measure(item)
        return {**self.name(item), "too_long": size} if size > self.room else item

    def quote(self, passage: Passage) -> Item:
        """Return a passage with its locator: the item, and where in the item's text it starts."""
        named = self.name(passage.item)
        whole = {**named, "value": passage.item["value"]}
        if passage.is_whole and self.measure(whole) <= self.room:
            return whole
        text = passage.text[passage.start : passage.end]
        text = cut_text(text, self.room // 2, self.count) or text[:1]
        return {**named, "offset": passage.start, "total_chars": len(passage.text), "text": text}

    def name(self, item: Item) -> dict[str, Any]:
        """Return what an item is called, without a pointer that would take half of the room."""
        named = {name: item[name] for name in ("id", "pointer", "length") if name in item}
        if self.measure(named) > self.room // 2:
            del named["pointer"]
        return named

    def get_progress(self, count: int, total_name: str, total: int) -> dict[str, Any]:
        end = self.offset + count
        following = end if count and end < total else None
        return {"offset": self.offset, "next_offset": following, total_name: total}

    def measure(self, value: Any) -> int:
        return self.count(encode_plain(value))

    def count(self, text: str) -> int:
        """Return the tokens of a text, with the spaces that one envelope writes."""
        length = len(text) + text.count(",") + text.count(":")
        least = -(-length // CHARS_PER_TOKEN)
        return least if least > 2 * self.room else max(least, count_tokens(text))


def find_items(items: Sequence[Item], ids: Sequence[str]) -> tuple[list[int], list[str]]:
    """Return the numbers of the items of some ids, pointers or positions, and unknown ids.

    ``results[17:2000]`` names all rows that a list has lost.
    """
    named = {name for item in items for name in (item["id"], item["pointer"])}
    lists = {get_list_name(item) for item in items}

    def is_known(name: str) -> bool:
        positions = POSITIONS.fullmatch(name)
        return name in named or (positions is not None and positions[1] in lists)

    # A client may have written several ids as one, unless the comma is an id's own.
    wanted = {
        part
        for name in ids
        for part in ([name] if is_known(name) else map(str.strip, name.split(",")))
    }
    ranges = [match for match in map(POSITIONS.fullmatch, wanted - named) if match]

    def is_wanted(item: Item) -> bool:
        if not wanted.isdisjoint((item["id"], item["pointer"])):
            return True
        position = (item["pointer"] or "").rpartition("/")[2]
        return any(
            match[1] == get_list_name(item) and int(match[2]) <= int(position) < int(match[3])
            for match in ranges
        )

    found = [number for number, item in enumerate(items) if is_wanted(item)]
    return found, sorted(name for name in wanted if not is_known(name))


def get_list_name(item: Item) -> str | None:
    """Return the name of the list that an item is a row of, None if it is none."""
    path = [
        int(name) if name.isdecimal() else name for name in JSONPointer(item["pointer"] or "").path
    ]
    return format_path(tuple(path[:-1])) if path and isinstance(path[-1], int) else None
