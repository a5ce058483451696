"""Ranks tools for a question: by what they are about, and by what the question asks for.

The words of questions and of tools are compared by their stems, phrases and synonyms.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from configparser import ConfigParser
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from drf_mcp.calls.summaries import Signature
from drf_mcp.exceptions import attempt
from drf_mcp.exposure import Tool
from drf_mcp.naming import get_names
from drf_mcp.routes.descriptions import SENTENCES
from drf_mcp.stored.slices import split_unspaced

WORDS = re.compile(r"[^\W_]+")
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
CLAUSES = re.compile(r"[,;:.!?]+(?=\s|$)")
FOLDER = Path(__file__).parent
READ = "read"
# What a question without a verb probably asks for.
GUESS = {READ: 0.5}
# How much a synonym counts, where the word itself is 1; and how many other words may be between
# the words of a phrase.
SYNONYM, MOST_BETWEEN = 0.75, 3

# --- Words without their endings ---------------------------------------------------------------

INFLECTIONS = ("ings", "ing", "ied", "ies", "ed", "es", "s")
# Words that seem to have one.
UNINFLECTED = ("eed", "ss", "us", "is")
# Without an "e" at their end.
DERIVATIONS = (
    *("ation", "ment", "ability", "ity", "anc", "ion", "abl", "at", "er", "or", "al", "ly"),
    *("ic", "iv", "y"),
)


def _strip_english(word: str, forms: Mapping[str, str]) -> str:
    """Return a word without its endings: "orders" and "ordered" are one word.

    Args:
        forms: the word that an irregular form belongs to, by the form.
    """
    stem = forms.get(word, word)
    if word not in forms and not word.endswith(UNINFLECTED):
        stem = _strip_ending(word, INFLECTIONS, 3)
        if stem != word and word.endswith(("ies", "ied")):
            stem = f"{stem}y"
        elif stem != word and len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "elsz":
            stem = stem[:-1]
    stem = _strip_ending(_strip_e(forms.get(stem, stem)), DERIVATIONS, 4)
    # "cancelled" and "canceled"
    return _strip_e(stem[:-1] if stem.endswith("ll") and len(stem) > 5 else stem)


def _strip_e(stem: str) -> str:
    return stem[:3] + stem[3:].rstrip("e")


def _strip_ending(word: str, endings: Sequence[str], least: int) -> str:
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            return word.removesuffix(ending)
    return word


# --- Questions ------------------------------------------------------------------------------


@dataclass(frozen=True)
class SearchQuestion:
    """What a question says.

    Attributes:
        words: for each word or phrase that says something, its stems with what each counts.
        asks: the actions of viewsets that the question asks for, each with how sure that is.
    """

    words: Sequence[Mapping[str, float]]
    asks: Mapping[str, float]


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
        """Return a word without its endings."""
        return _strip_english(word, self.forms)

    def split(self, text: str) -> list[str]:
        """Return the stems of the words that say something, and of the phrases."""
        words = _split_raw(text)
        stems = [self.strip(word) for word in words]
        stop = self.lists["stop"]
        said = [stem for stem, word in zip(stems, words, strict=True) if word not in stop]
        phrases = (self._find_phrase(stems, place, between=0) for place in range(len(stems)))
        return said + [" ".join(stems[place] for place in phrase) for phrase in phrases if phrase]

    def read(self, text: str) -> SearchQuestion:
        asks: dict[str, float] = {READ: 1.0} if "?" in text else {}
        found: list[Mapping[str, float]] = []
        stop = self.lists["stop"]
        silent = stop - self.lists["about_fields"]
        for clause in CLAUSES.split(text):
            words = _split_raw(clause)
            stems = [self.strip(word) for word in words]
            taken: set[int] = set()
            for place, word in enumerate(words):
                phrase = self._find_phrase(stems, place, taken)
                taken |= set(phrase)
                unit = " ".join(stems[each] for each in phrase) if phrase else stems[place]
                # Elsewhere a verb may as well be a noun: "an order", "the request".
                is_verb = place == 0 or words[place - 1] in self.lists["before_verbs"]
                if is_verb:
                    asks |= dict.fromkeys(self.asking.get(unit if phrase else word, ()), 1.0)
                says_nothing = word in silent or place in taken
                is_plain = is_verb and word in self.lists["plain_verbs"]
                if not phrase and (says_nothing or is_plain):
                    continue
                parts = [stems[n] for n in phrase if words[n] not in stop]
                near = [*self.synonyms.get(unit, ()), *parts]
                found.append({**dict.fromkeys(near, SYNONYM), unit: 1.0})
        return SearchQuestion(found, asks or self._guess(_split_raw(text)))

    def _guess(self, words: Sequence[str]) -> Mapping[str, float]:
        """Return what words without a verb that is known ask for.

        "She weighs 6 kilos" asks to record it, "the address is wrong" to correct it, "call the
        customer" to do something that an action may be named for, "unpaid fines" to read.
        """
        lists = self.lists
        says = any(word in lists["finite_verbs"] or word.isdigit() for word in words)
        if not lists["subjects" if says else "pronouns"].isdisjoint(words[:1]):
            is_new = lists["corrections"].isdisjoint(words)
            return {"create" if is_new else "partial_update": 0.5}
        return GUESS if lists["determiners"].isdisjoint(words[:3]) else {}

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


# The actions of viewsets whose verbs people use for one another.
ACTIONS = {
    "list": "read",
    "retrieve": "read",
    "create": "create",
    "update": "partial_update",
    "partial_update": "partial_update",
    "destroy": "destroy",
}
# Words of a question whose spelling is compared, and how like another word a word has to be.
MOST_SPELLINGS, LEAST_LIKENESS, SURE_LIKENESS = 12, 0.5, 0.7
# Of a long question.
MOST_WORDS = 40


# --- What is known about a tool ---------------------------------------------------------------


def describe_for_search(tool: Tool) -> dict[str, Any]:
    """Return what `FieldRanking` takes of a tool: more than its definition says."""
    endpoint, name, keywords = tool.endpoint, tool.name, tool.options.keywords or ()
    action = endpoint.standard_action or ""
    model = attempt(lambda: endpoint.model, None)
    # What the tool is about, without what its path begins with.
    noun = name.removesuffix(f"_{action}").rpartition("_")[2]
    nouns = [*(get_names(model) if model else [noun])]
    collection = endpoint.collection.rstrip("/").rpartition("/")[2]
    own_action, verbs = "", set()
    if action in ACTIONS:
        nouns += [] if "{" in collection else [collection]
        verbs = _find_verbs()
    else:
        # What a tool that is no standard action does: its name without its object.
        stems = set(split_words(" ".join(nouns)))
        words = [word for word in name.split("_") if stems.isdisjoint(split_words(word))]
        own_action = " ".join([" ".join(words) or name, *keywords])

    def drop_verbs(text: str) -> str:
        # A search knows from the action what it does: "Add or register a new order".
        words = text.replace("_", " ").split(" ") if verbs else [text]
        return " ".join(word for word in words if word.lower().strip(",.") not in verbs)

    controls = {control.name for control in tool.controls}
    properties = tool.input_schema.get("properties", {})
    arguments = {n: schema for n, schema in properties.items() if n not in controls}
    return {
        "object": " ".join(nouns),
        "names": " ".join([drop_verbs(name), drop_verbs(tool.title), *keywords]),
        "description": drop_verbs(tool.description),
        "subject": " ".join(read_subject(tool, model)),
        "arguments": " ".join(_read_properties({"properties": arguments})),
        "own": own_action,
        "action": action,
        "as_question": ACTIONS.get(action, ""),
        "reads": tool.reads,
        "destroys": bool(tool.annotations["destructiveHint"]) and action == "destroy",
    }


def _find_verbs() -> set[str]:
    """Return the words of the sentences that describe standard actions, and of their names."""
    names = "_".join(ACTIONS).split("_")
    sentences = (text.format(plural="", single="", one="") for text in SENTENCES.values())
    return {*names, *(word.strip(",.").lower() for text in sentences for word in text.split())}


def read_subject(tool: Tool, model: Any) -> Iterator[str]:
    """Yield names of the model, and what its fields are called, mean and may hold."""
    if model is None:
        yield from _read_properties(Signature(tool).find_output())
        return
    yield from get_names(model)
    for field in model._meta.get_fields():
        if not field.auto_created:
            yield f"{field.name} {getattr(field, 'verbose_name', '')}"
            yield str(getattr(field, "help_text", ""))
            yield from (f"{v} {label}" for v, label in getattr(field, "flatchoices", None) or ())
            if isinstance(field.related_model, type):
                yield from get_names(field.related_model)


def _read_properties(schema: Any) -> Iterator[str]:
    """Yield names, descriptions and choices of all properties of a schema, nested ones too."""
    if not isinstance(schema, Mapping):
        return
    for name, member in (schema.get("properties") or {}).items():
        yield name
        if isinstance(member, Mapping):
            yield str(member.get("description", ""))
            yield " ".join(value for value in member.get("enum") or () if isinstance(value, str))
        yield from _read_properties(member)
    yield from _read_properties(schema.get("items"))


# --- How well it answers ----------------------------------------------------------------------


class FieldRanking:
    """Ranks tools by where a word is: names, description, subject or arguments.

    A list with hundreds of filters is a long text, but its name is as short as any other, and
    says more than one of the filters does. BM25F evens out the length of each field by itself,
    and adds a word's frequencies in them by the fields' weights before they are weighed as one.

    Args:
        tools: by name, each as `describe_for_search` describes it.
    """

    # BM25F (Zaragoza and others, TREC-13, 2004), with what found the most for those questions in
    # benchmarks/agents that are not kept out of tuning. Half and double find nearly as much.
    k1 = 4.9
    # How much the length of a field matters, and the weight of each.
    b = 0.6
    fields: Mapping[str, float] = {
        "object": 18.0,
        "names": 9.0,
        "description": 6.0,
        "subject": 1.0,
        "arguments": 1.0,
    }
    # A score is multiplied by `fitting` where the tool does what the question asks for, by
    # `misfitting` where it does something else, by `unlike` where it writes and the question reads,
    # and by `destroying` where it deletes and the question does not.
    fitting, misfitting, unlike, destroying = 1.7, 0.7, 0.3, 0.25
    # Added to the score of a tool whose action the question asks for, whatever its object is.
    asked = 1.0

    def __init__(self, tools: Mapping[str, Mapping[str, Any]]) -> None:
        self.tools = tools
        split = split_words
        self.nouns = {word for tool in tools.values() for word in split(tool.get("object", ""))}
        self.own = {n: {*split(tool.get("own", ""))} - self.nouns for n, tool in tools.items()}
        self.said = {n: {*split(t.get("description", ""))} - self.nouns for n, t in tools.items()}
        # What the project's own actions that change something are called.
        self.verbs = {
            v for n, verbs in self.own.items() if not tools[n].get("reads") for v in verbs
        }
        # The score of each word in each of the tools that hold it.
        self.holders: dict[str, dict[str, float]] = defaultdict(dict)
        self.weights: dict[str, float] = {}
        documents: dict[str, dict[str, float]] = {name: defaultdict(float) for name in tools}
        for field, weight in self.fields.items():
            texts = {name: split(tool.get(field, "")) for name, tool in tools.items()}
            average = sum(map(len, texts.values())) / max(len(texts), 1) or 1
            for name, words in texts.items():
                share = weight / (1 - self.b + self.b * len(words) / average)
                for word, times in Counter(words).items():
                    documents[name][word] += share * times
        for name, document in documents.items():
            for word, frequency in document.items():
                self.holders[word][name] = frequency
        for word, holders in self.holders.items():
            count = len(holders)
            rarity = math.log(1 + (len(self.tools) - count + 0.5) / (count + 0.5))
            self.weights[word] = rarity
            for name, frequency in holders.items():
                holders[name] = rarity * (self.k1 + 1) * frequency / (frequency + self.k1)

    def find(self, text: str) -> list[str]:
        question = read_vocabulary().read(text)
        words, asks = [self.correct(near) for near in question.words[:MOST_WORDS]], question.asks
        if asks == GUESS and words:
            # The name of an action of the project that is no object, such as "ship", asks for
            # that action.
            first = words[0]
            if _find_itself(first) not in self.nouns and not self.verbs.isdisjoint(first):
                asks = {}
        scores = self.find_scores(words)
        said = {stem for near in words for stem in near}
        for name, tool in self.tools.items():
            if tool.get("as_question") in asks.keys() - {READ}:
                scores[name] += self.asked
        for name in scores:
            scores[name] *= self._find_factor(name, asks, said)
        return sorted(scores, key=lambda name: -scores[name])

    def correct(self, near: Mapping[str, float]) -> Mapping[str, float]:
        """Return a word that no tool has, nor a synonym of it, as one that is spelled like it."""
        if not self.holders.keys().isdisjoint(near):
            return near
        spelled = self._find_spelling(_find_itself(near), SURE_LIKENESS)
        return {spelled: 0.5} if spelled else near

    def find_scores(self, words: Sequence[Mapping[str, float]]) -> dict[str, float]:
        """Return the scores of the tools that hold one of the words."""
        scores: dict[str, float] = defaultdict(float)
        for near in words:
            # A synonym counts no more than the word itself, also where the synonym is rarer.
            most = self.weights.get(_find_itself(near), math.inf)
            # Of several synonyms that a tool holds, the best counts.
            best: dict[str, float] = {}
            for word in near.keys() & self.weights.keys():
                weight = near[word] * min(1.0, most / self.weights[word])
                for name, value in self.holders[word].items():
                    best[name] = max(weight * value, best.get(name, 0.0))
            for name, value in best.items():
                scores[name] += value
        return scores

    def _find_factor(self, name: str, asks: Mapping[str, float], said: set[str]) -> float:
        """Return the factor of a tool's score by what the tool does and the question asks for."""
        tool = self.tools[name]
        if "reads" not in tool:
            return 1.0
        if tool["destroys"] and "destroy" not in asks:
            return self.destroying
        strongest = max(asks.values(), default=0.0)
        as_question = tool["as_question"]
        if as_question and asks and asks.get(as_question, 0.0) == strongest:
            # A list is the likelier tool: one object is read after a list has shown it.
            return self.fitting * (0.9 if tool["action"] == "retrieve" else 1.0)
        wants_read = bool(asks) and asks.get(READ, 0.0) == strongest
        if wants_read and not tool["reads"]:
            return self.unlike
        # An action of the project's own has to be named.
        is_named = not (as_question or said.isdisjoint(self.said[name] | self.own[name]))
        if wants_read != tool["reads"] or not is_named:
            return self.misfitting
        return 1.0 if self.own[name].isdisjoint(said) else self.fitting

    # --- Words that no tool has --------------------------------------------------------------

    def find_near(self, text: str) -> list[str]:
        spelled = map(self._find_spelling, split_words(text)[:MOST_SPELLINGS])
        scores = self.find_scores([{word: 1.0} for word in spelled if word])
        return sorted(scores, key=lambda name: -scores[name])

    def _find_spelling(self, word: str, least: float = LEAST_LIKENESS) -> str:
        """Return the word of the tools that shares the most with a word, "" where none does."""
        own = _cut_pieces(word)
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
            for piece in _cut_pieces(word):
                pieces[piece].append(word)
        return pieces


def _find_itself(near: Mapping[str, float]) -> str:
    """Return the word among its synonyms, each with what it counts."""
    return max(near, key=lambda word: near[word])


def _cut_pieces(word: str) -> set[str]:
    """Return the pairs of letters of a word, its beginning and its end among them."""
    edged = f" {word} "
    return {edged[start : start + 2] for start in range(len(edged) - 1)}
