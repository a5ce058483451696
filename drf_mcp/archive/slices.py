"""Slices of archived items, each short enough for a result."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drf_mcp.archive.withheld import Item, ReadableItems
from drf_mcp.json_text import JSONPointer, encode_plain
from drf_mcp.truncation.rows import format_path
from drf_mcp.truncation.tokens import CHARS_PER_TOKEN, count_tokens, cut_text

# Tokens of an envelope without its data.
ENVELOPE_TOKENS = 400
RANGE_ID = re.compile(r"(.*)\[(\d+):(\d+)\]", re.DOTALL)
# Scripts without spaces between words: each pair of characters is a term.
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+")
TERM = re.compile(r"\w+|[^\w\s]+")
MAX_TERMS = 32


class Slicer:
    """Cuts slices of archived items."""

    def __init__(self, limit: int | None, offset: int, most: int | None) -> None:
        # The slice starts at an item, a value of a list, or a character of a text.
        self.room = 10**9 if limit is None else max(limit - ENVELOPE_TOKENS, limit // 3)
        self.offset = offset
        self.most = most

    def slice(self, items: Sequence[Item], form: Callable[[str], str] | None) -> dict[str, Any]:
        """Return a slice of several items, or of one item in the way that suits its value."""
        if len(items) != 1:
            return self.slice_items(items)
        (item,) = items
        value = item["value"]
        if isinstance(value, str):
            return self._slice_text(item, "text", value if form is None else form(value))
        if "length" in item:
            named = self._name(item)
            part = self._fit(self._select(value), self.room - self._measure(named))
            progress = self._get_progress(len(part), "total_count", len(value))
            return {**named, "format": "values", **progress, "values": part}
        if self._measure(item) > self.room:
            return self._slice_text(item, "json", encode_plain(value))
        return self.slice_items(items)

    def slice_items(self, items: Sequence[Item]) -> dict[str, Any]:
        found = self._fit(map(self._shorten, self._select(items)), self.room)
        return {**self._get_progress(len(found), "total_count", len(items)), "items": found}

    def slice_window(self, readable: ReadableItems) -> dict[str, Any]:
        length = CHARS_PER_TOKEN * self.room
        found, end = readable.find_from(self.offset, self.most, length)
        part = self._fit(map(self._shorten, found.values()), self.room)
        following = [*list(found)[len(part) :], end][0]
        return {
            "offset": self.offset,
            "next_offset": following if part and following < len(readable.items) else None,
            "total_count": len(readable),
            "items": part,
        }

    def slice_passages(self, passages: Sequence[Passage]) -> dict[str, Any]:
        found = self._fit(map(self._quote, self._select(passages)), self.room)
        return {**self._get_progress(len(found), "total_count", len(passages)), "passages": found}

    def _slice_text(self, item: Item, kind: str, text: str) -> dict[str, Any]:
        named, part = self._name(item), self._select(text)
        part = cut_text(part, self.room - self._measure(named), self._count) or part[:1]
        progress = self._get_progress(len(part), "total_chars", len(text))
        return {**named, "format": kind, **progress, "text": part}

    def _select(self, values: Any) -> Any:
        return values[self.offset :][: self.most]

    def _fit(self, values: Iterable[Any], room: int) -> list[Any]:
        # At least one, so that every slice makes progress.
        fitting: list[Any] = []
        for value in values:
            room -= self._measure(value) + 1
            if room < 0 and fitting:
                break
            fitting.append(value)
        return fitting

    def _shorten(self, item: Item) -> Item:
        size = self._measure(item)
        return {**self._name(item), "too_long": size} if size > self.room else item

    def _quote(self, passage: Passage) -> Item:
        # With its locator: the item, and the start of the passage in the item's text.
        named = self._name(passage.item)
        whole = {**named, "value": passage.item["value"]}
        text = passage.text[passage.start : passage.end]
        if text == passage.text and self._measure(whole) <= self.room:
            return whole
        text = cut_text(text, self.room // 2, self._count) or text[:1]
        return {**named, "offset": passage.start, "total_chars": len(passage.text), "text": text}

    def _name(self, item: Item) -> dict[str, Any]:
        # Without a pointer that would take half of the room.
        named = {name: item[name] for name in ("id", "pointer", "length") if name in item}
        if self._measure(named) > self.room // 2:
            del named["pointer"]
        return named

    def _get_progress(self, count: int, total_name: str, total: int) -> dict[str, Any]:
        end = self.offset + count
        following = end if count and end < total else None
        return {"offset": self.offset, "next_offset": following, total_name: total}

    def _measure(self, value: Any) -> int:
        return self._count(encode_plain(value))

    def _count(self, text: str) -> int:
        # PlainEnvelope writes a space after each comma and colon.
        length = len(text) + text.count(",") + text.count(":")
        least = -(-length // CHARS_PER_TOKEN)
        return least if least > 2 * self.room else max(least, count_tokens(text))


def find_numbers(items: Sequence[Item], ids: Sequence[str]) -> tuple[set[int], list[str]]:
    """Return the numbers of the items with these ids or pointers, and the unknown ids.

    ``results[17:2000]`` is the id of a range of rows.
    """
    named: dict[str, list[int]] = {}
    rows: dict[str, list[tuple[int, int]]] = {}
    for number, item in enumerate(items):
        for name in {item["id"], item["pointer"]}:
            named.setdefault(name, []).append(number)
        path = [int(n) if n.isdecimal() else n for n in JSONPointer(item["pointer"] or "").path]
        if path and isinstance(position := path.pop(), int):
            rows.setdefault(format_path(tuple(path)), []).append((position, number))

    def find(name: str) -> list[int] | None:
        match = RANGE_ID.fullmatch(name)
        if name in named or match is None or match[1] not in rows:
            return named.get(name)
        start, stop = int(match[2]), int(match[3])
        return [number for position, number in rows[match[1]] if start <= position < stop]

    found: set[int] = set()
    unknown = set()
    for text in ids:
        # Some clients write several ids as one text; an id may have a comma, too.
        for name in [text] if find(text) is not None else map(str.strip, text.split(",")):
            numbers = find(name)
            found.update(numbers or ())
            if numbers is None:
                unknown.add(name)
    return found, sorted(unknown)


@dataclass(frozen=True)
class Passage:
    item: Mapping[str, Any]
    text: str
    start: int
    end: int


class PassageSearch:
    """Finds the passages of items that a query is about.

    Attributes:
        passage_length: about how long a passage is, in characters.
        saturation: how soon another occurrence of a term adds nothing (k1 of BM25).
    """

    passage_length = 800
    saturation = 1.2

    def __init__(self, query: str) -> None:
        query = query.casefold().strip()
        parts = (part for term in TERM.findall(query) for part in split_unspaced(term))
        # Without the plural's s.
        stems = (w[:-1] if len(w) > 3 and w.endswith("s") and w.isascii() else w for w in parts)
        terms = list(dict.fromkeys(stems))
        # The query as a whole is the rarest term.
        terms += [query] if len(terms) > 1 and query not in terms else []
        self.terms = terms[:MAX_TERMS]

    def find(self, items: Sequence[Mapping[str, Any]]) -> list[Passage]:
        """Return the passages of the items, best first."""
        values = (item["value"] for item in items)
        texts = [value if isinstance(value, str) else encode_plain(value) for value in values]
        scores = self._score_windows(texts)
        ranked = sorted(scores, key=lambda key: (-scores[key], key))
        return [self._cut(items[number], texts[number], window) for number, window in ranked]

    def score(self, texts: Sequence[str]) -> list[float]:
        """Return the score of each text's best passage, 0 for no passage."""
        best = [0.0] * len(texts)
        for (number, _), score in self._score_windows(texts).items():
            best[number] = max(best[number], score)
        return best

    def _score_windows(self, texts: Sequence[str]) -> dict[tuple[int, int], float]:
        counts: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
        for number, text in enumerate(texts):
            lowered = fold(text)
            for term in self.terms:
                for place in find_term(term, lowered):
                    counts[number, place // self.passage_length][term] += 1
        total = sum(len(text) // self.passage_length + 1 for text in texts)
        frequencies = Counter(term for found in counts.values() for term in found)
        weights = {
            term: math.log(1 + (total - count + 0.5) / (count + 0.5))
            for term, count in frequencies.items()
        }
        return {
            key: sum(
                weights[term] * count * (self.saturation + 1) / (count + self.saturation)
                for term, count in found.items()
            )
            for key, found in counts.items()
        }

    def _cut(self, item: Mapping[str, Any], text: str, window: int) -> Passage:
        if len(text) <= 2 * self.passage_length:
            return Passage(item, text, 0, len(text))
        start = window * self.passage_length
        end = min(start + self.passage_length, len(text))
        # From the start of a line or sentence to the end of another, which other windows hold.
        before = text.rfind("\n", max(start - 200, 0), start + 1)
        if before < 0:
            before = text.rfind(". ", max(start - 200, 0), start) + 1
        after = text.find("\n", end, end + 200)
        if after < 0:
            after = text.find(". ", end, end + 200)
        start = before + 1 if before > 0 else start
        end = after + 1 if after > 0 else end
        return Passage(item, text, start, end)


def split_unspaced(term: str) -> list[str]:
    """Return the pairs of characters of a word without spaces; another word as it is."""
    if len(term) < 3 or not UNSPACED.fullmatch(term):
        return [term]
    return [term[start : start + 2] for start in range(len(term) - 1)]


def fold(text: str) -> str:
    """Return text in lower case, every character in its place."""
    folded = text.lower()
    if len(folded) == len(text):
        return folded
    # A few capitals are two characters in lower case.
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def find_term(term: str, text: str) -> Iterator[int]:
    # A word is found at the start of longer words.
    is_word = term[0].isalnum() and not UNSPACED.match(term)
    place = text.find(term)
    while place >= 0:
        if not is_word or place == 0 or not text[place - 1].isalnum():
            yield place
        place = text.find(term, place + len(term))
