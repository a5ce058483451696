"""Texts as weighted words, and their similarity."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property
from operator import mul


class TermVectors:
    """The TF-IDF vectors of some texts, each of length one.

    Args:
        texts: the words of each text.
    """

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self.count = len(texts)
        frequencies = Counter(word for text in texts for word in set(text))
        self.weights = {
            word: math.log((self.count + 1) / (frequency + 1)) + 1
            for word, frequency in frequencies.items()
        }
        self.vectors = [self.vector(text) for text in texts]

    def vector(self, text: Sequence[str]) -> dict[str, float]:
        """Return the vector of a text, without words that none of the texts has."""
        counts = Counter(word for word in text if word in self.weights)
        values = {
            word: (math.log(count) + 1) * self.weights[word] for word, count in counts.items()
        }
        length = math.hypot(*values.values())
        return {word: value / length for word, value in values.items()}

    @cached_property
    def postings(self) -> dict[str, list[tuple[int, float]]]:
        """For each word, the places of the texts that have it, with its weight in each."""
        found = defaultdict(list)
        for place, vector in enumerate(self.vectors):
            for word, value in vector.items():
                found[word].append((place, value))
        return dict(found)

    def similarities(self, vector: dict[str, float]) -> list[float]:
        """Return the cosines of a vector and the vectors of all texts."""
        scores = [0.0] * self.count
        for word, value in vector.items():
            for place, other in self.postings[word]:
                scores[place] += value * other
        return scores

    @cached_property
    def profiles(self) -> list[list[float]]:
        """How similar every text is to all of them, as vectors of length one."""
        return [unit(self.similarities(vector)) for vector in self.vectors]

    def related(self, vector: dict[str, float]) -> list[float]:
        """Return the cosines of the profiles of a vector and of every text.

        This is explicit semantic analysis (Gabrilovich and Markovitch, 2007) with the texts
        themselves as the concepts: two texts that resemble the same texts are related, even
        where they share no word.
        """
        profile = unit(self.similarities(vector))
        return [sum(map(mul, profile, other)) for other in self.profiles]


def unit(vector: list[float]) -> list[float]:
    """Return a vector of length one in the same direction; a vector of zeros is not changed."""
    length = math.hypot(*vector) or 1.0
    return [value / length for value in vector]
