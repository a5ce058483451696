"""The words of questions and of tools: stems, phrases, synonyms, and what a question asks for."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from drf_mcp.archive.slices import split_unspaced
from drf_mcp.contrib.search.stems import STEMS, strip_english
from drf_mcp.contrib.search.verbs import (
    AGAIN,
    ASKING,
    BEFORE_VERBS,
    CORRECTIONS,
    DETERMINERS,
    FINITE,
    NAMED_BY_VERBS,
    PLAIN_VERBS,
    PREPOSITIONS,
    PRONOUNS,
    STOP_WORDS,
    SUBJECTS,
    WISHES,
)

WORDS = re.compile(r"[^\W_]+")
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
APOSTROPHES = re.compile(r"(?<=\w)['\u2019](?:s|re|ve|ll|d|m)?\b")
CLAUSES = re.compile(r"[,;:.!?]+(?=\s|$)")
READ = "read"
# What a question without a verb asks for, not quite surely.
GUESS = {READ: 0.5}
# What a synonym counts of the word itself, and a word after the first preposition; how many words
# a phrase may have between its own.
SYNONYM, AFTERTHOUGHT, MOST_BETWEEN = 0.75, 0.7, 3


@dataclass(frozen=True)
class SearchQuestion:
    """What a question says.

    Attributes:
        words: for each word or phrase that says something, its stems with what each counts.
        asks: what is asked for, of the keys of `ASKING`, and how surely.
    """

    words: Sequence[Mapping[str, float]]
    asks: Mapping[str, float]


@dataclass
class SearchLanguage:
    """The words of a language.

    Args:
        code: of the language; English words are known in each.

    Attributes:
        synonyms: the stems that mean nearly the same, by stem or by the stems of a phrase.
        asking: what a word, or the stems of a phrase, ask for.
        phrases: all phrases, by the first stem.
    """

    code: str
    synonyms: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    asking: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    phrases: dict[str, list[tuple[str, ...]]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        self.strip = STEMS.get(self.code, strip_english)
        for code in dict.fromkeys(("en", self.code)):
            for line in read_synonyms(code):
                said, _, wanted = line.partition(" > ")
                stems = [self.read_phrase(text) for text in said.split()]
                others = [self.read_phrase(text) for text in wanted.split()] or stems
                for stem in stems:
                    self.synonyms[stem].update(others)
        for action, verbs in ASKING.items():
            for text in verbs.split():
                phrase = self.read_phrase(text)
                self.asking[phrase if "_" in text else text].add(action)

    def read_phrase(self, text: str) -> str:
        stems = tuple(map(self.strip, text.split("_")))
        if len(stems) > 1 and stems not in self.phrases[stems[0]]:
            self.phrases[stems[0]].append(stems)
        return " ".join(stems)

    def split(self, text: str) -> list[str]:
        """Return the stems of the words that say something, and of the phrases."""
        words = split_raw(text)
        stems = [self.strip(word) for word in words]
        said = [s for s, word in zip(stems, words, strict=True) if word not in STOP_WORDS]
        phrases = (self.find_phrase(stems, place, between=0) for place in range(len(stems)))
        return said + [" ".join(stems[place] for place in phrase) for phrase in phrases if phrase]

    def read(self, text: str) -> SearchQuestion:
        """Return what a question says."""
        asks: dict[str, float] = {READ: 1.0} if "?" in text else {}
        found: list[Mapping[str, float]] = []
        for clause in CLAUSES.split(APOSTROPHES.sub("", text)):
            self.read_clause(split_raw(clause), asks, found)
        return SearchQuestion(found, asks or guess(split_raw(text)))

    def read_clause(
        self, words: Sequence[str], asks: dict[str, float], found: list[Mapping[str, float]]
    ) -> None:
        stems = [self.strip(word) for word in words]
        taken: set[int] = set()
        share = 1.0
        # "send it again" is "resend".
        repeats = not AGAIN.isdisjoint(words)
        for place, word in enumerate(words):
            phrase = self.find_phrase(stems, place, taken)
            taken |= set(phrase)
            unit = " ".join(stems[each] for each in phrase) if phrase else stems[place]
            # Elsewhere a verb may as well be a noun: "an order", "the request".
            if place == 0 or words[place - 1] in BEFORE_VERBS:
                asks |= dict.fromkeys(self.asking.get(unit if phrase else word, ()), 1.0)
            is_plain = word in PLAIN_VERBS and (place == 0 or words[place - 1] in BEFORE_VERBS)
            if place and word in PREPOSITIONS and not phrase:
                # What a question is about comes before what it says of it.
                share = AFTERTHOUGHT
            if not phrase and (word in STOP_WORDS - NAMED_BY_VERBS or is_plain or place in taken):
                continue
            parts = [stems[n] for n in phrase if words[n] not in STOP_WORDS]
            near = [*self.synonyms.get(unit, ()), *parts]
            weights = {**dict.fromkeys(near, SYNONYM * share), unit: share}
            if repeats:
                weights |= {f"re{stem}": weight * 1.2 for stem, weight in weights.items()}
            found.append(weights)

    def find_phrase(
        self,
        stems: Sequence[str],
        start: int,
        taken: Container[int] = (),
        between: int = MOST_BETWEEN,
    ) -> tuple[int, ...]:
        """Return the places of the words of the phrase that begins at a place, () for none."""
        for phrase in self.phrases.get(stems[start], ()) if start not in taken else ():
            places = [start]
            for stem in phrase[1:]:
                window = range(places[-1] + 1, min(places[-1] + 2 + between, len(stems)))
                following = next((n for n in window if stems[n] == stem and n not in taken), None)
                if following is None:
                    break
                places.append(following)
            if len(places) == len(phrase):
                return tuple(places)
        return ()


def guess(words: Sequence[str]) -> Mapping[str, float]:
    """Return what words without a verb that is known ask for.

    "She weighs 6 kilos" asks to record it, "the address is wrong" to correct it, "call the
    customer" to do something that an action may be named for, "unpaid fines" to read.
    """
    says = any(word in FINITE or word.isdigit() for word in words)
    is_statement = not (SUBJECTS if says else PRONOUNS).isdisjoint(words[:1])
    if not is_statement:
        return GUESS if DETERMINERS.isdisjoint(words[:3]) else {}
    if not WISHES.isdisjoint(words[:3]):
        return {}
    return {"create" if CORRECTIONS.isdisjoint(words) else "partial_update": 0.5}


def split_raw(text: str) -> list[str]:
    words = WORDS.findall(CAMEL.sub(" ", text).lower())
    return [part for word in words for part in split_unspaced(word)]


def read_synonyms(code: str) -> list[str]:
    """Return the groups of the kept list of a language, which has one in English and German."""
    kept = Path(__file__).with_name(f"synonyms_{code}.txt")
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    return [line for line in lines if not line.startswith("#")]


@lru_cache(maxsize=8)
def get_language(code: str) -> SearchLanguage:
    """Return the words of a language, such as ``de``; of its variants the same."""
    return SearchLanguage(code.partition("-")[0])


def split_words(text: str, code: str = "en") -> list[str]:
    """Return the stems of the words of a text."""
    return get_language(code).split(text)
