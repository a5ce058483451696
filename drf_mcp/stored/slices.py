"""Slices of archived items, each short enough for a result."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from drf_mcp.json_text import JSONPointer, encode_plain
from drf_mcp.truncation.rows import format_path
from drf_mcp.truncation.tokens import CHARS_PER_TOKEN

Item: TypeAlias = Mapping[str, Any]

RANGE_ID = re.compile(r"(.*)\[(\d+):(\d+)\]", re.DOTALL)
# Names the item of a number, where its own id is too long for a slice.
NUMBER_ID = re.compile(r"#(\d+)")
LONGEST_ID = 200
# Scripts without spaces between words: each pair of characters is a term.
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+")
TERM = re.compile(r"\w+|[^\w\s]+")
MAX_TERMS = 32


class Slicer:
    """Cuts slices of archived items, which fit as the envelope writes them.

    Args:
        measure: returns the tokens of the result that has a slice.
        limit: the most tokens of a result, None for any number.
        offset: where the slice starts: an item, a value of a list, or a character of a text.
        most: the most items, values or characters of the slice.
    """

    def __init__(
        self, measure: Callable[[Any], int], limit: int | None, offset: int, most: int | None
    ) -> None:
        self.measure = measure
        self.limit = math.inf if limit is None else limit
        self.offset = offset
        self.most = most

    def slice(
        self, items: Sequence[Item], form: Callable[[str], str] | None = None
    ) -> dict[str, Any]:
        """Return a slice of several items, or of one item in the way that suits its value.

        Args:
            form: gives a text the form in which digests locate their parts; None for its own.
        """
        if len(items) != 1:
            return self._slice_items(items)
        item = items[0]
        value = item["value"]
        if isinstance(value, str):
            return self._slice_text(item, "text", value if form is None else form(value))
        if "length" in item:
            return self._cut(self._name(item, 0) | {"format": "values"}, "values", value)
        if self._is_too_long(item):
            return self._slice_text(item, "json", encode_plain(value))
        return self._slice_items(items)

    def slice_passages(self, passages: Sequence[Passage]) -> dict[str, Any]:
        """Return a slice of passages, each with its locator."""
        chosen = passages[self.offset :][: self.most]
        quotes = [self._quote(passage) for passage in chosen[: self._most_of(chosen)]]
        return self._fit({}, "passages", quotes, len(passages))

    def _slice_items(self, items: Sequence[Item]) -> dict[str, Any]:
        found = [
            self._name(item, number) | {"too_long": len(encode_plain(item["value"]))}
            if self._is_too_long(item)
            else item
            for number, item in enumerate(self._take(items), self.offset)
        ]
        return self._fit({}, "items", found, len(items))

    def _slice_text(self, item: Item, kind: str, text: str) -> dict[str, Any]:
        return self._cut(self._name(item, 0) | {"format": kind}, "text", text)

    def _cut(self, named: dict[str, Any], member: str, whole: Any) -> dict[str, Any]:
        part = whole[self.offset :][: self.most]
        return self._fit(named, member, part[: self._most_of(part)], len(whole))

    def _fit(self, named: dict[str, Any], member: str, part: Any, total: int) -> dict[str, Any]:
        """Return the longest slice that fits; at least one, so that each slice makes progress."""
        total_name = "total_chars" if member == "text" else "total_count"

        def make(count: int) -> dict[str, Any]:
            end = self.offset + count
            following = end if count and end < total else None
            progress = {"offset": self.offset, "next_offset": following, total_name: total}
            return {**named, **progress, member: part[:count]}

        def measure(count: int) -> float:
            return self.measure(make(count))

        # Mostly all of it fits: the part was chosen by its length.
        if len(part) < 2 or measure(len(part)) <= self.limit:
            return make(len(part))
        return make(bisect_right(range(2, len(part)), self.limit, key=measure) + 1)

    def _most_of(self, values: Any) -> int:
        # A token has at most so many characters; a value has at least one.
        return int(min(CHARS_PER_TOKEN * self.limit, len(values)))

    def _take(self, items: Sequence[Item]) -> Iterator[Item]:
        """Yield the items from the offset on, as many as a slice may have."""
        room = CHARS_PER_TOKEN * self.limit
        for item in items[self.offset :][: self.most]:
            if room <= 0:
                return
            yield item
            room -= len(encode_plain(item))

    def _is_too_long(self, item: Item) -> bool:
        # A token has at least one byte; the rest of the result has fewer than a quarter.
        if 4 * len(encode_plain(item).encode("utf-8", "surrogatepass")) <= self.limit:
            return False
        progress = {"offset": 10**6, "next_offset": 10**6, "total_count": 10**6}
        return self.measure({**progress, "items": [item]}) > self.limit

    def _quote(self, passage: Passage) -> Item:
        # The item, and the start of the passage in the item's text.
        named = self._name(passage.item, passage.number)
        text = passage.text[passage.start : passage.end]
        whole = {**named, "value": passage.item["value"]}
        if text == passage.text and not self._is_too_long(whole):
            return whole
        most = max(int(self.limit // 3), 1) if self.limit < math.inf else len(text)
        located = {"offset": passage.start, "total_chars": len(passage.text)}
        return {**named, **located, "text": text[:most]}

    def _name(self, item: Item, number: int) -> dict[str, Any]:
        # Names of keys may be of any length.
        named = {name: item[name] for name in ("id", "pointer", "length") if name in item}
        if len(str(named["pointer"])) > LONGEST_ID:
            del named["pointer"]
        if len(named["id"]) > LONGEST_ID:
            named["id"] = f"#{number}"
        return named


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
        if name not in named and (numbered := NUMBER_ID.fullmatch(name)):
            return [int(numbered[1])] if int(numbered[1]) < len(items) else None
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
    number: int
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
        return [self._cut(items[n], n, texts[n], window) for n, window in ranked]

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
                for place in _find_term(term, lowered):
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

    def _cut(self, item: Item, number: int, text: str, window: int) -> Passage:
        if len(text) <= 2 * self.passage_length:
            return Passage(item, number, text, 0, len(text))
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
        return Passage(item, number, text, start, end)


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


def _find_term(term: str, text: str) -> Iterator[int]:
    # A word is found at the start of longer words.
    is_word = term[0].isalnum() and not UNSPACED.match(term)
    place = text.find(term)
    while place >= 0:
        if not is_word or place == 0 or not text[place - 1].isalnum():
            yield place
        place = text.find(term, place + len(term))
