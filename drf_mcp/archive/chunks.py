"""Slices of archived items, each short enough for a result."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drf_mcp.archive.search import Passage

# What an envelope says beside the data.
ENVELOPE_ROOM = 1500


def slice_room(limit: int | None) -> int:
    """Return how long the data of a slice may be, so that its envelope fits."""
    return 10**9 if limit is None else max(limit - ENVELOPE_ROOM, limit // 3)


def length(value: Any) -> int:
    """Return the length of a value as JSON in the widest spelling that an envelope uses."""
    return len(json.dumps(value, ensure_ascii=False))


def names_of(item: Mapping[str, Any], room: int) -> dict[str, Any]:
    """Return what an item is called, without a pointer that would take half of the room."""
    named = {"id": item["id"], "pointer": item["pointer"]}
    return named if length(named) <= room // 2 else {"id": item["id"]}


def text_slice(
    item: Mapping[str, Any], kind: str, text: str, offset: int, limit: int, room: int
) -> dict[str, Any]:
    """Return a slice of one text, in characters."""
    named = names_of(item, room)
    room -= length(named)
    part = text[offset : offset + min(limit, room)]
    while len(part) > 1 and length(part) > room:
        part = part[: max(len(part) * room // length(part), 1)]
    end = offset + len(part)
    return {
        **named,
        "format": kind,
        "offset": offset,
        "next_offset": end if part and end < len(text) else None,
        "total_chars": len(text),
        "text": part,
    }


def items_slice(
    items: Sequence[Mapping[str, Any]], offset: int, limit: int, room: int
) -> dict[str, Any]:
    """Return a slice of several items, whole ones only."""
    part = list(yield_fitting_items(items[offset : offset + limit], room))
    end = offset + len(part)
    return {
        "offset": offset,
        "next_offset": end if part and end < len(items) else None,
        "total_count": len(items),
        "items": part,
    }


def passages_slice(
    passages: Sequence[Passage], offset: int, limit: int, room: int
) -> dict[str, Any]:
    """Return a slice of passages, the best first."""
    part: list[dict[str, Any]] = []
    for passage in passages[offset : offset + limit]:
        found = passage_item(passage, room)
        room -= length(found) + 2
        if room < 0 and part:
            break
        part.append(found)
    end = offset + len(part)
    return {
        "offset": offset,
        "next_offset": end if part and end < len(passages) else None,
        "total_count": len(passages),
        "passages": part,
    }


def passage_item(passage: Passage, room: int) -> dict[str, Any]:
    """Return a passage with its locator: the item, and where in the item's text it starts."""
    item = names_of(passage.item, room)
    if passage.is_whole and length({**item, "value": passage.item["value"]}) <= room:
        return {**item, "value": passage.item["value"]}
    text = passage.text[passage.start : passage.end]
    while len(text) > 1 and length(text) > room // 2:
        text = text[: len(text) // 2]
    return {**item, "offset": passage.start, "total_chars": len(passage.text), "text": text}


def yield_fitting_items(
    items: Sequence[Mapping[str, Any]], room: int
) -> Iterator[Mapping[str, Any]]:
    """Yield the first items, as many as fit; of one that never does, its size."""
    used = 0
    for item in items:
        size = length(item)
        if size > room:
            item = {**names_of(item, room), "too_long": size}
            size = length(item)
        used += size + 2
        if used > room and used > size + 2:
            return
        yield item
