"""Which tool a client's search finds: BM25, as clients do it, over what the list says."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

# The parameters that the usual packages begin with.
K1, B = 1.2, 0.75
ENDINGS = ("ing", "ed", "ies", "es", "ly", "s")
WORDS = re.compile(r"[a-z0-9]+")
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
    return [find_stem(word) for word in words if word not in STOP_WORDS]


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


def read_schema(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield names and descriptions of all arguments of a schema, nested ones too."""
    for name, argument in schema.get("properties", {}).items():
        yield name
        yield argument.get("description", "")
        yield from read_schema(argument)
    if isinstance(schema.get("items"), Mapping):
        yield from read_schema(schema["items"])


class Search:
    """Ranks the tools of a list for a question."""

    def __init__(self, tools: Mapping[str, Mapping[str, Any]]) -> None:
        self.documents = {name: Counter(self.read_tool(tool)) for name, tool in tools.items()}
        lengths = [document.total() for document in self.documents.values()]
        self.average = sum(lengths) / len(lengths)
        self.holding = Counter(word for document in self.documents.values() for word in document)

    def read_tool(self, tool: Mapping[str, Any]) -> list[str]:
        """Return the words of name, description, argument names and argument descriptions."""
        texts = [tool["name"], tool.get("description", ""), *read_schema(tool["inputSchema"])]
        return split_words(" ".join(texts))

    def get_weight(self, word: str) -> float:
        """Return what a word tells about the tools that hold it."""
        holding = self.holding[word]
        return math.log(1 + (len(self.documents) - holding + 0.5) / (holding + 0.5))

    def get_score(self, name: str, words: Sequence[str]) -> float:
        """Return how well a tool answers a question of these words."""
        document = self.documents[name]
        length = K1 * (1 - B + B * document.total() / self.average)
        return sum(
            self.get_weight(word) * document[word] * (K1 + 1) / (document[word] + length)
            for word in words
        )

    def find_lister(self, subject: str) -> str:
        """Return the tool that lists what a subject is about, as far as the list tells."""
        words = split_words(f"list {subject}")
        listers = [name for name in self.documents if split_words(name)[-1:] == ["list"]]
        return max(listers or self.documents, key=lambda name: self.get_score(name, words))

    def rank(self, question: str, right: Sequence[str]) -> tuple[int, str]:
        """Return the place of the best right tool, 1 for the top, and the tool at the top.

        A wrong tool of the same score counts as the better one; a right tool without any of the
        words has the place after the last.
        """
        words = split_words(question)
        scores = {name: self.get_score(name, words) for name in self.documents}
        best = max((scores[name] for name in right if name in scores), default=0.0)
        wrong = {name: score for name, score in scores.items() if name not in right}
        place = 1 + sum(score >= best for score in wrong.values())
        top = max(scores, key=lambda name: (scores[name], name not in right))
        return (place if best else len(scores)), top
