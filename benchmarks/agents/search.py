"""Which tool a client's search finds: BM25 over the list, as clients use it."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

# The default parameters of the usual packages.
K1, B = 1.2, 0.75
ENDINGS = ("ing", "ed", "ies", "es", "ly", "s")
WORDS = re.compile(r"[^\W_]+")
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and any are as at be by did do does for from has have how i in is it its me my not "
        "of on or our s she that the their them there these this to us was we were what when where "
        "which who will with you your",
    )
)


def split_words(text: str) -> list[str]:
    """Return the stems of the words in a text."""
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


class Search:
    """Ranks the tools of a list for a question.

    Args:
        tools: by name, each as ``tools/list`` shows it.
    """

    def __init__(self, tools: Mapping[str, Mapping[str, Any]]) -> None:
        texts = {name: split_words(" ".join(read_tool(tool))) for name, tool in tools.items()}
        average = sum(map(len, texts.values())) / max(len(texts), 1) or 1
        # How often each word occurs in each tool, as if all tools had the same length.
        self.documents: dict[str, dict[str, float]] = {
            name: {w: n / (1 - B + B * len(words) / average) for w, n in Counter(words).items()}
            for name, words in texts.items()
        }
        self.holders: dict[str, list[str]] = defaultdict(list)
        for name, document in self.documents.items():
            for word in document:
                self.holders[word].append(name)

    def find_scores(self, words: Sequence[str]) -> dict[str, float]:
        """Return the score of each tool for these words, without tools that score nothing."""
        scores: dict[str, float] = defaultdict(float)
        for word, times in Counter(words).items():
            holding = len(self.holders.get(word, ()))
            weight = math.log(1 + (len(self.documents) - holding + 0.5) / (holding + 0.5))
            for name in self.holders.get(word, ()):
                frequency = self.documents[name][word]
                scores[name] += times * weight * (K1 + 1) * frequency / (frequency + K1)
        return scores

    def find_lister(self, subject: str) -> str:
        """Return the tool that lists the objects of a subject, as far as the list shows."""
        scores = self.find_scores(split_words(f"list {subject}"))
        listers = [name for name in self.documents if split_words(name)[-1:] == ["list"]]
        return max(listers or self.documents, key=lambda name: scores.get(name, 0.0))

    def rank(self, question: str, right: Sequence[str]) -> tuple[int, str]:
        """Return the rank of the best right tool, 1 for the top, and the top tool.

        A wrong tool with the same score ranks before a right one. A right tool without any of the
        words ranks last.
        """
        found = self.find_scores(split_words(question))
        scores = {name: found.get(name, 0.0) for name in self.documents}
        best = max((scores[name] for name in right if name in scores), default=0.0)
        wrong = {name: score for name, score in scores.items() if name not in right}
        place = 1 + sum(score >= best for score in wrong.values())
        top = max(scores, key=lambda name: (scores[name], name not in right))
        return (place if best else len(scores)), top


def read_tool(tool: Mapping[str, Any]) -> Iterator[str]:
    """Yield name, description, argument names and argument descriptions."""
    yield tool["name"]
    yield tool.get("description", "")
    yield from read_schema(tool["inputSchema"])


def read_schema(schema: Any) -> Iterator[str]:
    """Yield names and descriptions of all arguments of a schema, nested ones too."""
    if not isinstance(schema, Mapping):
        return
    for name, argument in schema.get("properties", {}).items():
        yield name
        if isinstance(argument, Mapping):
            yield str(argument.get("description", ""))
        yield from read_schema(argument)
    yield from read_schema(schema.get("items"))
