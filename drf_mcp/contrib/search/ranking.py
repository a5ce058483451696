"""Ranking tools for a question: BM25 as clients do it, and BM25F for a search of the server's."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from drf_mcp.archive.search import split_unspaced

Frequencies = Mapping[str, float]
# The parameters that the usual packages begin with.
K1, B = 1.2, 0.75
# Words of a question whose spelling is compared, and how like another word a word has to be.
MOST_SPELLINGS, LEAST_LIKENESS = 12, 0.5
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


def cut_pieces(word: str) -> set[str]:
    """Return the pairs of letters of a word, its beginning and its end among them."""
    edged = f" {word} "
    return {edged[start : start + 2] for start in range(len(edged) - 1)}


class ToolRanking:
    """Ranks tools by their names, descriptions, and arguments with their descriptions.

    Args:
        tools: by name, each a mapping with the members ``name``, ``description`` and
            ``inputSchema`` of a tool as ``tools/list`` shows it.
    """

    k1 = K1

    def __init__(self, tools: Mapping[str, Mapping[str, Any]]) -> None:
        # How often each word stands in each tool, as if all tools were of one length.
        self.documents = self.count_words(tools)
        # The names of the tools that hold a word.
        self.holders: dict[str, list[str]] = defaultdict(list)
        for name, document in self.documents.items():
            for word in document:
                self.holders[word].append(name)

    def count_words(self, tools: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Frequencies]:
        texts = {name: self.read_tool(tool) for name, tool in tools.items()}
        return self.count_evenly(texts, B)

    def count_evenly(self, texts: Mapping[str, Sequence[str]], b: float) -> dict[str, Frequencies]:
        """Return the frequencies of words in texts, by name: lower where a text is longer.

        Args:
            texts: by name, each as its words.
            b: how much the length matters, from 0 for nothing to 1.
        """
        average = sum(map(len, texts.values())) / max(len(texts), 1) or 1
        return {
            name: {w: n / (1 - b + b * len(words) / average) for w, n in Counter(words).items()}
            for name, words in texts.items()
        }

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
            weight = times * self.get_weight(word) * (self.k1 + 1)
            for name in self.holders.get(word, ()):
                frequency = self.documents[name][word]
                scores[name] += weight * frequency / (frequency + self.k1)
        return scores

    def find(self, question: str) -> list[str]:
        """Return the names of the tools with a word of a question, the best first."""
        scores = self.get_scores(split_words(question))
        return sorted(scores, key=lambda name: -scores[name])

    def find_near(self, question: str) -> list[str]:
        """Return the names of the tools with words spelled like those of a question."""
        near = (self.find_spelling(word) for word in split_words(question)[:MOST_SPELLINGS])
        scores = self.get_scores([word for word in near if word])
        return sorted(scores, key=lambda name: -scores[name])

    def find_spelling(self, word: str) -> str:
        """Return the word of the tools that shares the most with a word, "" where none does."""
        own = cut_pieces(word)
        shared = Counter(other for piece in own for other in self.pieces.get(piece, ()))
        likeness = {
            other: 2 * n / (len(own) + len(cut_pieces(other))) for other, n in shared.items()
        }
        best = max(likeness, key=lambda other: likeness[other], default="")
        return best if best and likeness[best] >= LEAST_LIKENESS else ""

    @cached_property
    def pieces(self) -> Mapping[str, list[str]]:
        """The words that hold each piece of a word."""
        pieces: dict[str, list[str]] = defaultdict(list)
        for word in self.holders:
            for piece in cut_pieces(word):
                pieces[piece].append(word)
        return pieces


class FieldRanking(ToolRanking):
    """Ranks tools by where a word stands: name and title, description, or arguments.

    A list with hundreds of filters is a long text, but its name is as short as any other, and
    says more than one of the filters does. BM25F evens out the length of each field by itself,
    and adds a word's frequencies in them by the fields' weights before they are weighed as one.
    """

    # As found for the search of one page by what it is called, with the fields title, text of links
    # to the page, and body (Zaragoza and others, Microsoft Cambridge at TREC-13, 2004).
    k1 = 4.9
    fields: Mapping[str, tuple[float, float]] = {
        # The weight of a field, and how much its length matters.
        "names": (13.5, 0.6),
        "description": (11.5, 0.6),
        "arguments": (1.0, 0.5),
    }

    def count_words(self, tools: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Frequencies]:
        read = {name: self.read_fields(tool) for name, tool in tools.items()}
        documents: dict[str, dict[str, float]] = {name: defaultdict(float) for name in tools}
        for field, (weight, b) in self.fields.items():
            texts = {name: split_words(texts[field]) for name, texts in read.items()}
            for name, frequencies in self.count_evenly(texts, b).items():
                for word, frequency in frequencies.items():
                    documents[name][word] += weight * frequency
        return documents

    def read_fields(self, tool: Mapping[str, Any]) -> dict[str, str]:
        """Return the text of each field of a tool, which may have a ``title`` too."""
        return {
            "names": f"{tool['name']} {tool.get('title', '')}",
            "description": tool.get("description", ""),
            "arguments": " ".join(self.read_schema(tool["inputSchema"])),
        }
