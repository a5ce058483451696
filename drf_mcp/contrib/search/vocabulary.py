"""The words of questions and of tools, compared by their stems, phrases and synonyms."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from configparser import ConfigParser
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from drf_mcp.stored.slices import split_unspaced

WORDS = re.compile(r"[^\W_]+")
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
CLAUSES = re.compile(r"[,;:.!?]+(?=\s|$)")
FOLDER = Path(__file__).parent
READ = "read"
# How much a synonym counts, where the word itself is 1; and how many other words may be between
# the words of a phrase.
SYNONYM, MOST_BETWEEN = 0.75, 3
INFLECTIONS = ("ings", "ing", "ied", "ies", "ed", "es", "s")
# Words that seem to have one.
UNINFLECTED = ("eed", "ss", "us", "is")
# Without an "e" at their end.
DERIVATIONS = (
    "ation",
    "ment",
    "ability",
    "ity",
    "anc",
    "ion",
    "abl",
    "at",
    "er",
    "or",
    "al",
    "ly",
    "ic",
    "iv",
    "ag",
    "y",
)


@dataclass(frozen=True)
class Word:
    """A word or phrase that says something: its stem, and near stems with what each counts."""

    itself: str
    near: Mapping[str, float]
    # Whether it is a verb that asks for something.
    is_verb: bool = False


class Vocabulary:
    """The English words that a search knows, read from the text files in this folder.

    Words of other languages are taken for English words, which names in code mostly are.

    Attributes:
        synonyms: the stems that mean nearly the same, by stem or by the stems of a phrase.
        asking: what a word, or the stems of a phrase, ask for, by the actions of viewsets.
        phrases: all phrases, by the first stem.
        lists: the words of each list of the section ``words``.
        forms: the word that an irregular form belongs to, by the form.
    """

    def __init__(self) -> None:
        self.synonyms: dict[str, set[str]] = defaultdict(set)
        self.asking: dict[str, set[str]] = defaultdict(set)
        self.phrases: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        words = ConfigParser()
        words.read(FOLDER / "words_en.txt", encoding="utf-8")
        self.lists = {name: set(texts.split()) for name, texts in words["words"].items()}
        self.forms: dict[str, str] = {}
        for word, forms in words["forms"].items():
            self.forms |= dict.fromkeys([word, *forms.split()], word)
        for action, verbs in words["asks"].items():
            for text in verbs.split():
                phrase = self._read_phrase(text)
                self.asking[phrase if "_" in text else text].add(action)
        for line in _read_synonyms():
            said, _, wanted = line.partition(" > ")
            stems = [self._read_phrase(text) for text in said.split()]
            others = [self._read_phrase(text) for text in wanted.split()] or stems
            for stem in stems:
                self.synonyms[stem].update(others)

    def _read_phrase(self, text: str) -> str:
        stems = tuple(map(self.strip, text.split("_")))
        if len(stems) > 1 and stems not in self.phrases[stems[0]]:
            self.phrases[stems[0]].append(stems)
        return " ".join(stems)

    def strip(self, word: str) -> str:
        """Return a word without its endings: "orders" and "ordered" are one word."""
        stem = self.forms.get(word, word)
        if word not in self.forms and not word.endswith(UNINFLECTED):
            stem = _strip_ending(word, INFLECTIONS, 3)
            if stem != word and word.endswith(("ies", "ied")):
                stem = f"{stem}y"
            elif stem != word and len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "elsz":
                stem = stem[:-1]
        stem = _strip_ending(_strip_e(self.forms.get(stem, stem)), DERIVATIONS, 4)
        # "cancelled" and "canceled"
        return _strip_e(stem[:-1] if stem.endswith("ll") and len(stem) > 5 else stem)

    def split(self, text: str) -> list[str]:
        """Return the stems of the words that say something, and of the phrases."""
        words = _split_raw(text)
        stems = [self.strip(word) for word in words]
        stop = self.lists["stop"]
        said = [stem for stem, word in zip(stems, words, strict=True) if word not in stop]
        phrases = (self._find_phrase(stems, place, between=0) for place in range(len(stems)))
        return said + [" ".join(stems[place] for place in phrase) for phrase in phrases if phrase]

    def read(self, text: str) -> tuple[list[Word], set[str]]:
        """Return the words that say something, and the actions of viewsets that they ask for."""
        asks = {READ} if "?" in text else set()
        clauses = [_split_raw(clause) for clause in CLAUSES.split(text)]
        words = [word for clause in clauses for word in self._read_clause(clause, asks)]
        # "Call the customer" asks for an action that is named so, "unpaid fines" to read.
        if not asks and self.lists["determiners"].isdisjoint(_split_raw(text)[:3]):
            asks.add(READ)
        return words, asks

    def _read_clause(self, words: Sequence[str], asks: set[str]) -> Iterator[Word]:
        lists = self.lists
        stems = [self.strip(word) for word in words]
        taken: set[int] = set()
        for place, word in enumerate(words):
            phrase = self._find_phrase(stems, place, taken)
            taken |= set(phrase)
            unit = " ".join(stems[each] for each in phrase) if phrase else stems[place]
            # Elsewhere a verb may as well be a noun: "an order", "the request".
            is_verb = not place or words[place - 1] in lists["before_verbs"]
            wants = self.asking.get(unit if phrase else word, ()) if is_verb else ()
            asks.update(wants)
            is_silent = word in lists["stop"] - lists["about_fields"] or place in taken
            if not phrase and (is_silent or (is_verb and word in lists["plain_verbs"])):
                continue
            parts = [stems[n] for n in phrase if words[n] not in lists["stop"]]
            near = dict.fromkeys([*self.synonyms.get(unit, ()), *parts], SYNONYM)
            yield Word(unit, {**near, unit: 1.0}, is_verb=bool(wants))

    def _find_phrase(
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


def _strip_e(stem: str) -> str:
    return stem[:3] + stem[3:].rstrip("e")


def _strip_ending(word: str, endings: Sequence[str], least: int) -> str:
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            return word.removesuffix(ending)
    return word


def _split_raw(text: str) -> list[str]:
    words = WORDS.findall(CAMEL.sub(" ", text).lower())
    return [part for word in words for part in split_unspaced(word)]


def _read_synonyms() -> list[str]:
    lines = (FOLDER / "synonyms_en.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


@lru_cache(maxsize=1)
def read_vocabulary() -> Vocabulary:
    return Vocabulary()


def split_words(text: str) -> list[str]:
    return read_vocabulary().split(text)
