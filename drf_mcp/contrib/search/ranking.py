"""Ranks tools for a question: by what they are about, and by what the question asks for."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from drf_mcp.calls.summaries import Signature
from drf_mcp.contrib.search.vocabulary import READ, Word, read_vocabulary, split_words
from drf_mcp.exceptions import attempt
from drf_mcp.exposure import Tool
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
# Of a long question; the least letters of a word whose spelling is compared, and how like another
# word it has to be.
MOST_WORDS, LEAST_LETTERS, LIKENESS = 40, 5, 0.8

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
    verbs = _find_verbs() if action in ACTIONS else set()
    if verbs and "{" not in collection:
        nouns.append(collection)

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
    if tool.reads:
        # What the model does not have, such as the lines of an order.
        yield from Signature(tool).find_output().get("properties") or ()


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
    # `misfitting` where it reads and the question does not, or the other way round, and by
    # `destroying` where it deletes and the question does not.
    fitting, misfitting, destroying = 1.7, 0.7, 0.25
    # Added to the score of a tool whose action the question asks for.
    asked = 1.0

    def __init__(self, tools: Mapping[str, Mapping[str, Any]]) -> None:
        self.tools = tools
        texts: dict[str, dict[str, list[str]]] = {
            name: {field: split_words(tool.get(field, "")) for field in self.fields}
            for name, tool in tools.items()
        }
        # What names a tool: a word in a filter or in a text of a field may mean another tool.
        # The description of an action of the project's own says what the tool is for.
        self.named = {
            name: {
                *words["object"],
                *words["names"],
                *(() if tools[name].get("as_question") else words["description"]),
            }
            for name, words in texts.items()
        }
        # The score of each word in each of the tools that hold it.
        self.holders: dict[str, dict[str, float]] = defaultdict(dict)
        for field, weight in self.fields.items():
            average = sum(len(words[field]) for words in texts.values()) / max(len(tools), 1) or 1
            for name, words in texts.items():
                share = weight / (1 - self.b + self.b * len(words[field]) / average)
                for word, times in Counter(words[field]).items():
                    self.holders[word][name] = self.holders[word].get(name, 0.0) + share * times
        # How rare each word is.
        self.weights: dict[str, float] = {}
        for word, holders in self.holders.items():
            rest = len(tools) - len(holders)
            self.weights[word] = rarity = math.log(1 + (rest + 0.5) / (len(holders) + 0.5))
            for name, frequency in holders.items():
                holders[name] = rarity * (self.k1 + 1) * frequency / (frequency + self.k1)

    def find(self, text: str) -> tuple[list[str], bool]:
        """Return the tools for a question, best first, and whether a word names the first."""
        said, asks = read_vocabulary().read(text)
        words = [self._correct(word) for word in said[:MOST_WORDS]]
        scores = self._find_scores(words)
        for name in scores:
            tool = self.tools[name]
            if tool.get("as_question") in asks - {READ}:
                scores[name] += self.asked
            scores[name] *= self._find_factor(tool, asks)
        ranked = sorted(scores, key=lambda name: -scores[name])
        named = self.named[ranked[0]] if ranked else set()
        return ranked, any(not named.isdisjoint(word.near) for word in words)

    def _correct(self, word: Word) -> Word:
        """Return a word that no tool has, nor a synonym of it, as one that is spelled like it."""
        if not self.holders.keys().isdisjoint(word.near) or len(word.itself) < LEAST_LETTERS:
            return word
        alike = [each for each in self.holders if each[0] == word.itself[0]]
        spelled = get_close_matches(word.itself, alike, 1, LIKENESS)
        return Word(spelled[0], {spelled[0]: 0.5}) if spelled else word

    def _find_scores(self, words: Sequence[Word]) -> dict[str, float]:
        """Return the scores of the tools that hold one of the words; a verb has to name them."""
        scores: dict[str, float] = defaultdict(float)
        for word in words:
            # A synonym counts no more than the word itself, also where the synonym is rarer.
            most = self.weights.get(word.itself, math.inf)
            # Of several synonyms that a tool holds, the best counts.
            best: dict[str, float] = {}
            for near in word.near.keys() & self.weights.keys():
                weight = word.near[near] * min(1.0, most / self.weights[near])
                for name, value in self.holders[near].items():
                    if not word.is_verb or near in self.named[name]:
                        best[name] = max(weight * value, best.get(name, 0.0))
            for name, value in best.items():
                scores[name] += value
        return scores

    def _find_factor(self, tool: Mapping[str, Any], asks: set[str]) -> float:
        """Return the factor of a tool's score by what the tool does and the question asks for."""
        if "reads" not in tool:
            return 1.0
        if tool["destroys"] and "destroy" not in asks:
            return self.destroying
        if tool["as_question"] in asks:
            # A list is the likelier tool: one object is read after a list has shown it.
            return self.fitting * (0.9 if tool["action"] == "retrieve" else 1.0)
        return 1.0 if (READ in asks) == tool["reads"] else self.misfitting
