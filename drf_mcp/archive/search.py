"""Searches archived items for passages (BM25)."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drf_mcp.json_text import encode_plain

# Scripts without spaces between words: each pair of characters is a term.
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+")
TERM = re.compile(r"\w+|[^\w\s]+")
MAX_TERMS = 32


@dataclass(frozen=True)
class Passage:
    """The part of an item that a query finds."""

    item: Mapping[str, Any]
    text: str
    start: int
    end: int

    @property
    def is_whole(self) -> bool:
        return self.start == 0 and self.end == len(self.text)


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
        terms = list(dict.fromkeys(map(self._strip_plural, parts)))
        # The query as a whole is the rarest term.
        terms += [query] if len(terms) > 1 and query not in terms else []
        self.terms = terms[:MAX_TERMS]

    def _strip_plural(self, word: str) -> str:
        return word[:-1] if len(word) > 3 and word.endswith("s") and word.isascii() else word

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
