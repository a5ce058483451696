"""The words of questions and of tools: stems, phrases, synonyms, and what a question asks for."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from drf_mcp.archive.search import split_unspaced
from drf_mcp.contrib.search.synonyms import ASKING, GROUPS

WORDS = re.compile(r"[^\W_]+")
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
APOSTROPHES = re.compile(r"(?<=\w)['\u2019](?:s|re|ve|ll|d|m)?\b")
# SearchQuestion words that are about a field.
ASKED_FOR = frozenset({"when", "where", "wann", "wo"})
CLAUSES = re.compile(r"[,;:.!?]+(?=\s|$)")
READ = "read"
# What a question without a verb asks for, not quite surely.
GUESS = {READ: 0.5}
PREPOSITIONS = frozenset(
    re.findall(
        r"\w+",
        "about after at because before by for from in into of on onto since that to where which "
        "who whose with without als auf aus bei bis für mit nach seit über um unter von vor "
        "wegen zu",
    )
)
# What they ask for is all that they say.
PLAIN_VERBS = frozenset(
    re.findall(
        r"\w+",
        "add change create delete display edit find list make new register remove search see show "
        "update view ändere bearbeite entferne erstelle finde lösche suche zeige",
    )
)
BEFORE_VERBS = frozenset({"and", "bitte", "can", "could", "please", "to", "und", "us", "you"})
DETERMINERS = frozenset(
    re.findall(
        r"\w+",
        "a all an back both down every everything he her him his i in it my off on out our over "
        "she someone the their them these they this those two up us we your "
        "alle das dem den der die ein eine einen es ihm ihr sie",
    )
)
# What a synonym counts of the word itself, and a word after the first preposition; how many words
# a phrase may have between its own.
SYNONYM, AFTERTHOUGHT, MOST_BETWEEN = 0.75, 0.7, 3
# Words that say nothing about a tool; some of them ask for something all the same.
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a about an and any anything are as at be by can could did do does everything for from get "
        "has have he her here him his how i if in into is it its just me mr mrs ms must my need no "
        "not of on onto or our out over please s she should so some somebody someone t tell than "
        "that the their them then there these they this to too up us want was we were what when "
        "where which who whom whose why will with would you your "
        "already also another else more other still yet "
        "cant couldnt doesnt didnt dont isnt wont "
        "das dem den der des die ein eine einem einen einer für ich im in ist mit nicht oder sich "
        "sie sind und uns unser von wir zu zum zur",
    )
)
INFLECTIONS = ("ings", "ing", "ied", "ies", "ed", "es", "s")
DERIVATIONS = (
    *("ations", "ation", "ments", "ment", "ability", "ities", "ity", "ance", "ions", "ion"),
    *("able", "ers", "er", "or", "ly", "ic", "y", "ive"),
)
GERMAN = ("ungen", "ung", "innen", "in", "en", "ern", "er", "em", "es", "e", "n", "s", "te", "st")
# Verbs and nouns that change in the middle, and one that is a noun of its own.
IRREGULAR = {
    "bookings": "booking",
    "booking": "booking",
}
IRREGULAR |= {
    word: group.split()[0]
    for group in (
        "pay paid payment payments",
        "buy bought",
        "sell sold",
        "send sent",
        "give gave given",
        "take took taken",
        "go went gone",
        "come came",
        "break broke broken",
        "keep kept",
        "write wrote written",
        "find found",
        "hold held",
        "make made",
        "lend lent",
        "bring brought",
        "lose lost",
        "person people",
        "child children",
        "man men",
        "woman women",
        "shelf shelves",
        "prescribe prescription",
        "deliver delivery",
        "subscribe subscription",
        "describe description",
        "receive reception",
        "choose chose chosen",
    )
    for word in group.split()
}


def strip_english(word: str) -> str:
    """Return a word without its endings: "orders" and "ordered" are one word."""
    if word in IRREGULAR:
        return IRREGULAR[word].removesuffix("e") if len(word) > 3 else IRREGULAR[word]
    stem = strip_ending(word, INFLECTIONS, 3)
    if stem != word and len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "s":
        stem = stem[:-1]
    stem = IRREGULAR.get(stem, stem)
    stem = strip_ending(stem, DERIVATIONS, 4)
    return stem.removesuffix("e") if len(stem) > 3 else stem


def strip_german(word: str) -> str:
    return strip_ending(word.replace("ß", "ss"), GERMAN, 4)


def strip_ending(word: str, endings: Sequence[str], least: int) -> str:
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            return word.removesuffix(ending)
    return word


# The languages of the package's own catalogs; others as English, whose names code has.
STEMS = {"de": strip_german}


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
            for line in GROUPS.get(code, "").strip().splitlines():
                stems = [self.read_phrase(text) for text in line.split()]
                for stem in stems:
                    self.synonyms[stem].update(stems)
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
        for place, word in enumerate(words):
            phrase = self.find_phrase(stems, place, taken)
            taken |= set(phrase)
            unit = " ".join(stems[each] for each in phrase) if phrase else stems[place]
            # Elsewhere a verb may as well be a noun: "an order", "the request".
            if place == 0 or words[place - 1] in BEFORE_VERBS:
                asks |= dict.fromkeys(self.asking.get(unit if phrase else word, ()), 1.0)
            is_plain = word in PLAIN_VERBS and (place == 0 or words[place - 1] in BEFORE_VERBS)
            if place and word in PREPOSITIONS and not phrase:
                # What a question is about stands before what it says of it.
                share = AFTERTHOUGHT
            if not phrase and (word in STOP_WORDS - ASKED_FOR or is_plain or place in taken):
                continue
            parts = [stems[n] for n in phrase if words[n] not in STOP_WORDS]
            weights = dict.fromkeys((*self.synonyms.get(unit, ()), *parts), SYNONYM * share)
            found.append({**weights, unit: share})

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

    "Call the customer" and "The customer cannot come" ask to do something, "unpaid fines" to read.
    """
    is_command = not DETERMINERS.isdisjoint(words[:3])
    return {} if is_command else GUESS


def split_raw(text: str) -> list[str]:
    words = WORDS.findall(CAMEL.sub(" ", text).lower())
    return [part for word in words for part in split_unspaced(word)]


@lru_cache(maxsize=8)
def get_language(code: str) -> SearchLanguage:
    """Return the words of a language, such as ``de``; of its variants the same."""
    return SearchLanguage(code.partition("-")[0])


def split_words(text: str, code: str = "en") -> list[str]:
    """Return the stems of the words of a text."""
    return get_language(code).split(text)
