"""Ranks tools for a question: by what they are about, and by what the question asks for."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from drf_mcp.contrib.search.tool_words import read_properties
from drf_mcp.contrib.search.words import (
    GUESS,
    READ,
    SearchLanguage,
    SearchQuestion,
    get_language,
)

# Words of a question whose spelling is compared, and how like another word a word has to be.
MOST_SPELLINGS, LEAST_LIKENESS, SURE_LIKENESS = 12, 0.5, 0.7
# Of a long question.
MOST_WORDS = 40


class FieldRanking:
    """Ranks tools by where a word is: names, description, subject or arguments.

    A list with hundreds of filters is a long text, but its name is as short as any other, and
    says more than one of the filters does. BM25F evens out the length of each field by itself,
    and adds a word's frequencies in them by the fields' weights before they are weighed as one.

    Args:
        tools: by name, each as `ToolWords` describes it, with a ``name`` at least.
        language: of the words.
    """

    # BM25F (Zaragoza and others, TREC-13, 2004), with what found the most for those questions in
    # benchmarks/agents that are not kept out of tuning. Half and double find nearly as much.
    k1 = 4.9
    fields: Mapping[str, tuple[float, float]] = {
        # The weight of a field, and how much its length matters.
        "object": (18.0, 0.6),
        "names": (9.0, 0.6),
        "description": (6.0, 0.6),
        "subject": (1.0, 0.5),
        "arguments": (1.0, 0.5),
    }
    # What a score is multiplied by.
    fitting, misfitting, unlike, destroying, nested = 1.7, 0.7, 0.3, 0.25, 0.9
    # What a tool has for doing what is asked for, whatever it is about.
    asked = 1.0

    def __init__(
        self, tools: Mapping[str, Mapping[str, Any]], language: SearchLanguage | None = None
    ) -> None:
        self.tools = tools
        self.language = language or get_language("en")
        split = self.language.split
        objects = {name: {*split(tool.get("object", ""))} for name, tool in tools.items()}
        self.nouns: set[str] = set().union(*objects.values())
        self.own = {n: {*split(tool.get("own", ""))} - self.nouns for n, tool in tools.items()}
        self.said = {n: {*split(t.get("description", ""))} - self.nouns for n, t in tools.items()}
        self.parents = {n: {*split(t["name"])} & self.nouns - objects[n] for n, t in tools.items()}
        # What the project's own actions that change something are called.
        self.verbs = {
            v for n, verbs in self.own.items() if not tools[n].get("reads") for v in verbs
        }
        # What each word counts in each of the tools that hold it.
        self.holders: dict[str, dict[str, float]] = defaultdict(dict)
        for name, document in self.count_words().items():
            for word, frequency in document.items():
                self.holders[word][name] = frequency
        self.weights = {word: self.get_weight(word) for word in self.holders}
        for word, holders in self.holders.items():
            weight = self.weights[word] * (self.k1 + 1)
            self.holders[word] = {n: weight * f / (f + self.k1) for n, f in holders.items()}

    def count_words(self) -> Mapping[str, Mapping[str, float]]:
        """Return how often each word is in each tool, by the weights of the fields."""
        read = {name: self.read_fields(tool) for name, tool in self.tools.items()}
        documents: dict[str, dict[str, float]] = {name: defaultdict(float) for name in read}
        for field, (weight, b) in self.fields.items():
            texts = {name: self.language.split(each[field]) for name, each in read.items()}
            average = sum(map(len, texts.values())) / max(len(texts), 1) or 1
            for name, words in texts.items():
                share = weight / (1 - b + b * len(words) / average)
                for word, times in Counter(words).items():
                    documents[name][word] += share * times
        return documents

    def read_fields(self, tool: Mapping[str, Any]) -> dict[str, str]:
        """Return the text of each field of a tool."""
        names = (tool[key] for key in ("name", "title", "keywords") if tool.get(key))
        return {
            "object": tool.get("object", ""),
            "names": " ".join(names),
            "description": tool.get("description", ""),
            "subject": tool.get("subject", ""),
            "arguments": " ".join(read_properties(tool.get("inputSchema"))),
        }

    def get_weight(self, word: str) -> float:
        """Return what a word says about the tools that hold it."""
        holding = len(self.holders[word])
        return math.log(1 + (len(self.tools) - holding + 0.5) / (holding + 0.5))

    def find(self, text: str) -> list[str]:
        """Return the names of the tools with a word of a question, the best first."""
        question = self.language.read(text)
        words = [self.correct(near) for near in question.words[:MOST_WORDS]]
        if question.asks == GUESS and words and self.is_verb(words[0]):
            question = replace(question, asks={})
        scores = self.get_scores(words)
        said = {stem for near in words for stem in near}
        for name, tool in self.tools.items():
            if tool.get("as_question") in question.asks.keys() - {READ}:
                scores[name] += self.asked
        for name in scores:
            scores[name] *= self.get_factor(name, question, said)
            if self.parents[name].isdisjoint(said):
                scores[name] *= self.nested if self.parents[name] else 1.0
        return sorted(scores, key=lambda name: -scores[name])

    def correct(self, near: Mapping[str, float]) -> Mapping[str, float]:
        """Return a word that no tool has, nor a synonym of it, as one that is spelled like it."""
        if not self.holders.keys().isdisjoint(near):
            return near
        word = find_itself(near)
        spelled = self.find_spelling(word, SURE_LIKENESS) or self.find_part(word)
        return {spelled: 0.5} if spelled else near

    def find_part(self, word: str) -> str:
        """Return the word of the tools that a compound begins or ends with: "mailbox"."""
        cuts = [word[:end] for end in range(len(word) - 3, 3, -1)]
        cuts += [word[start:] for start in range(3, len(word) - 3)]
        return max((cut for cut in cuts if cut in self.holders), key=len, default="")

    def is_verb(self, near: Mapping[str, float]) -> bool:
        """Return whether a word is what an action is called, and nothing that there is."""
        return find_itself(near) not in self.nouns and not self.verbs.isdisjoint(near)

    def get_scores(self, words: Sequence[Mapping[str, float]]) -> dict[str, float]:
        """Return how well tools hold the words, those with none left out."""
        scores: dict[str, float] = defaultdict(float)
        for near in words:
            # A synonym that is rarer than the word itself says no more than the word does.
            most = self.weights.get(find_itself(near), math.inf)
            # A tool that holds several synonyms says the same thing several times.
            best: dict[str, float] = {}
            for word in near.keys() & self.weights.keys():
                weight = near[word] * min(1.0, most / self.weights[word])
                for name, value in self.holders[word].items():
                    if weight * value > best.get(name, 0.0):
                        best[name] = weight * value
            for name, value in best.items():
                scores[name] += value
        return scores

    def get_factor(self, name: str, question: SearchQuestion, said: set[str]) -> float:
        """Return how well a tool does what is asked for: what reads comes before what writes."""
        tool, asks = self.tools[name], question.asks
        if "reads" not in tool:
            return 1.0
        if tool["destroys"] and "destroy" not in asks:
            return self.destroying
        strongest = max(asks.values(), default=0.0)
        wants_read = asks.get(READ, 0.0) == strongest and bool(asks)
        as_question = tool["as_question"]
        if as_question and asks and asks.get(as_question, 0.0) == strongest:
            # One object is read after it was found.
            return self.fitting * (0.9 if tool["action"] == "retrieve" else 1.0)
        if wants_read != tool["reads"]:
            return self.unlike if wants_read else self.misfitting
        # An action of the project's own has to be named.
        if as_question or said.isdisjoint(self.said[name] | self.own[name]):
            return self.misfitting
        return 1.0 if self.own[name].isdisjoint(said) else self.fitting

    # --- Words that no tool has --------------------------------------------------------------

    def find_near(self, text: str) -> list[str]:
        """Return the names of the tools with words spelled like those of a question."""
        words = self.language.split(text)[:MOST_SPELLINGS]
        near = [{spelled: 1.0} for spelled in map(self.find_spelling, words) if spelled]
        scores = self.get_scores(near)
        return sorted(scores, key=lambda name: -scores[name])

    def find_spelling(self, word: str, least: float = LEAST_LIKENESS) -> str:
        """Return the word of the tools that shares the most with a word, "" where none does."""
        own = cut_pieces(word)
        shared = Counter(other for piece in own for other in self.pieces.get(piece, ()))
        # A word has as many pieces as letters, and one more; fewer where one comes twice.
        likeness = {other: 2 * n / (len(own) + len(other) + 1) for other, n in shared.items()}
        best = max(likeness, key=lambda other: likeness[other], default="")
        return best if best and likeness[best] >= least else ""

    @cached_property
    def pieces(self) -> Mapping[str, list[str]]:
        """The words that hold each piece of a word."""
        pieces: dict[str, list[str]] = defaultdict(list)
        for word in self.holders:
            for piece in cut_pieces(word):
                pieces[piece].append(word)
        return pieces


def find_itself(near: Mapping[str, float]) -> str:
    """Return the word among its synonyms, each with what it counts."""
    return max(near, key=lambda word: near[word])


def cut_pieces(word: str) -> set[str]:
    """Return the pairs of letters of a word, its beginning and its end among them."""
    edged = f" {word} "
    return {edged[start : start + 2] for start in range(len(edged) - 1)}
