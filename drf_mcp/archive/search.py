"""Searching archived items for passages, best first (BM25)."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drf_mcp.json_text import encode_plain

# Scripts that put no spaces between words: two characters at a time stand for words.
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+")
TERM = re.compile(r"\w+|[^\w\s]+")
MOST_TERMS = 32


@dataclass(frozen=True)
class Passage:
    """A part of an item that a query finds."""

    item: Mapping[str, Any]
    text: str
    start: int
    end: int

    @property
    def is_whole(self) -> bool:
        return self.start == 0 and self.end == len(self.text)


class PassageSearch:
    """Finds the passages of items that a query is about.

    A subclass may set the attributes.

    Attributes:
        passage_length: about how long a passage is, in characters.
        saturation: how soon a term that occurs again adds nothing (k1 of BM25).
    """

    passage_length = 800
    saturation = 1.2

    def __init__(self, query: str) -> None:
        self.query = query
        self.terms = self.get_terms()

    def get_terms(self) -> list[str]:
        query = self.query.casefold().strip()
        terms: dict[str, None] = {}
        for term in TERM.findall(query):
            for part in split_unspaced(term):
                terms[self.strip_plural(part)] = None
        if len(terms) > 1:
            terms[query] = None
        return list(terms)[:MOST_TERMS]

    def strip_plural(self, word: str) -> str:
        return word[:-1] if len(word) > 3 and word.endswith("s") and word.isascii() else word

    def find(self, items: Sequence[Mapping[str, Any]]) -> list[Passage]:
        texts = [get_text(item) for item in items]
        scores = self.score_windows(texts)
        ranked = sorted(scores, key=lambda key: (-scores[key], key))
        return [self.get_passage(items[number], texts[number], window) for number, window in ranked]

    def score(self, texts: Sequence[str]) -> list[float]:
        """Return the score of each text's best passage, 0 where nothing is found."""
        best = [0.0] * len(texts)
        for (number, _), score in self.score_windows(texts).items():
            best[number] = max(best[number], score)
        return best

    def score_windows(self, texts: Sequence[str]) -> dict[tuple[int, int], float]:
        counts: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
        for number, text in enumerate(texts):
            lowered = fold(text)
            for term in self.terms:
                for place in find_term(term, lowered):
                    counts[number, place // self.passage_length][term] += 1
        total = sum(len(text) // self.passage_length + 1 for text in texts)
        weights = self.get_weights(counts.values(), total)
        return {key: self.get_score(found, weights) for key, found in counts.items()}

    def get_weights(self, counts: Any, total: int) -> dict[str, float]:
        # The rarer, the heavier.
        frequencies = Counter(term for found in counts for term in found)
        return {
            term: math.log(1 + (total - count + 0.5) / (count + 0.5))
            for term, count in frequencies.items()
        }

    def get_score(self, found: Mapping[str, int], weights: Mapping[str, float]) -> float:
        return sum(
            weights[term] * count * (self.saturation + 1) / (count + self.saturation)
            for term, count in found.items()
        )

    def get_passage(self, item: Mapping[str, Any], text: str, window: int) -> Passage:
        # From the start of a line or sentence.
        if len(text) <= 2 * self.passage_length:
            return Passage(item, text, 0, len(text))
        start = window * self.passage_length
        end = min(start + self.passage_length, len(text))
        # A sentence may begin in the window before and end in the one after.
        before = text.rfind("\n", max(start - 200, 0), start + 1)
        if before < 0:
            before = text.rfind(". ", max(start - 200, 0), start) + 1
        after = text.find("\n", end, end + 200)
        if after < 0:
            after = text.find(". ", end, end + 200)
        start = before + 1 if before > 0 else start
        end = after + 1 if after > 0 else end
        return Passage(item, text, start, end)


def split_unspaced(term: str) -> Iterator[str]:
    if len(term) < 3 or not UNSPACED.fullmatch(term):
        yield term
        return
    for start in range(len(term) - 1):
        yield term[start : start + 2]


def get_text(item: Mapping[str, Any]) -> str:
    value = item["value"]
    return value if isinstance(value, str) else encode_plain(value)


def fold(text: str) -> str:
    # Every character stays in its place.
    folded = text.lower()
    if len(folded) == len(text):
        return folded
    # A few capitals are two characters in lower case.
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def find_term(term: str, text: str) -> Iterator[int]:
    # A word begins where no other word goes on.
    is_word = term[0].isalnum() and not UNSPACED.match(term)
    place = text.find(term)
    while place >= 0:
        if not is_word or place == 0 or not text[place - 1].isalnum():
            yield place
        place = text.find(term, place + len(term))
