"""Ranks tools for a question: by what they are about, and by what the question asks for."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from drf_mcp.calls.summaries import Signature
from drf_mcp.contrib.search.words import GUESS, READ, read_vocabulary, split_words
from drf_mcp.exposure import Tool
from drf_mcp.introspection.findings import attempt
from drf_mcp.naming import get_names
from drf_mcp.routes.descriptions import SENTENCES

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
