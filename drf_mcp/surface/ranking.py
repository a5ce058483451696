"""Ranking tools for a question: BM25, as clients do it, over what a list says of tools."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drf_mcp.archive.search import split_unspaced

# The parameters that the usual packages begin with.
K1, B = 1.2, 0.75
ENDINGS = ("ing", "ed", "ies", "es", "ly", "s")
WORDS = re.compile(r"[^\W_]+")
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
# Words that say nothing about a tool.
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and any are as at be by did do does for from has have how i in is it its me my not "
        "of on or our s she that the their them there these this to us was we were what when where "
        "which who will with you your",
    )
)


def split_words(text: str) -> list[str]:
    """Return the stems of the words that a search looks at."""
    words = WORDS.findall(CAMEL.sub(" ", text).lower())
    parts = (part for word in words if word not in STOP_WORDS for part in split_unspaced(word))
    return [find_stem(part) for part in parts]


def find_stem(word: str) -> str:
    """Return a word without its ending, as searches do: "orders" and "ordered" are one word."""
    stem = word
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word.removesuffix(ending)
            break
    if stem != word and len(stem) > 3 and stem[-1] == stem[-2]:
        stem = stem[:-1]
    return stem.removesuffix("e") if len(stem) > 3 else stem


class ToolRanking:
    """Ranks tools by their names, descriptions, and arguments with their descriptions.

    Args:
        tools: by name, each a mapping with the members ``name``, ``description`` and
            ``inputSchema`` of a tool as ``tools/list`` shows it.
    """

    def __init__(self, tools: Mapping[str, Mapping[str, Any]]) -> None:
        self.documents = {name: Counter(self.read_tool(tool)) for name, tool in tools.items()}
        self.lengths = {name: counts.total() for name, counts in self.documents.items()}
        self.average = sum(self.lengths.values()) / max(len(self.lengths), 1)
        # The names of the tools that hold a word.
        self.holders: dict[str, list[str]] = defaultdict(list)
        for name, document in self.documents.items():
            for word in document:
                self.holders[word].append(name)

    def read_tool(self, tool: Mapping[str, Any]) -> list[str]:
        """Return the words of name, description, argument names and argument descriptions."""
        texts = [
            tool["name"],
            tool.get("description", ""),
            *self.read_schema(tool["inputSchema"]),
        ]
        return split_words(" ".join(texts))

    def read_schema(self, schema: Any) -> Iterator[str]:
        """Yield names and descriptions of all arguments of a schema, nested ones too."""
        if not isinstance(schema, Mapping):
            return
        for name, argument in schema.get("properties", {}).items():
            yield name
            if isinstance(argument, Mapping):
                yield str(argument.get("description", ""))
            yield from self.read_schema(argument)
        yield from self.read_schema(schema.get("items"))

    def get_weight(self, word: str) -> float:
        """Return what a word tells about the tools that hold it."""
        holding = len(self.holders.get(word, ()))
        return math.log(1 + (len(self.documents) - holding + 0.5) / (holding + 0.5))

    def get_scores(self, words: Sequence[str]) -> dict[str, float]:
        """Return how well tools answer a question of these words, those with none left out."""
        scores: dict[str, float] = defaultdict(float)
        for word, times in Counter(words).items():
            weight = times * self.get_weight(word) * (K1 + 1)
            for name in self.holders.get(word, ()):
                count = self.documents[name][word]
                length = K1 * (1 - B + B * self.lengths[name] / self.average)
                scores[name] += weight * count / (count + length)
        return scores

    def find(self, question: str) -> list[str]:
        """Return the names of the tools with a word of a question, the best first."""
        scores = self.get_scores(split_words(question))
        return sorted(scores, key=lambda name: -scores[name])
