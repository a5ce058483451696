"""The digester that needs no model: it quotes the sentences that say most."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from drf_mcp.truncation.digests import ITEMS, SUMMARY_LENGTH, Condensed, Digester, Evidence
from drf_mcp.truncation.sentences import UNSPACED, Sentence, sentences, terms

# Data in letters, such as base64: one word of this length, and no language has it.
ENCODED = re.compile(r"[A-Za-z0-9+/=_\-.,:;%]{400}")
# Terms beyond this many make a sentence long, not important.
FULL_TERMS = 8
SUMMARY_SENTENCES = 8
ASKED_TERMS = 32
"""Terms of a query that count: more would cost time and tell no more."""
WORD_PART = 4
"""Terms of a query from this length on are found within longer terms, as searches find them."""


class ExtractiveDigester(Digester):
    """Chooses sentences by the weight of their terms; the same text gives the same digest.

    A term that ``k`` of the ``n`` sentences have weighs ``log(1 + k) * log((n + 1) / k)``:
    most where it comes back without being everywhere. A sentence weighs the sum of its
    terms over ``max(number of terms, 8)``, half as much again if it opens the text. The
    heaviest make the summary, in the text's order; the next heaviest are the key points.
    Evidence is what has most of the weight of the query's first 32 terms, which is its
    relevance; a term of four characters or more is found within longer ones too. Where
    nothing matches, it is the heaviest sentences, of relevance 0; without a query, the
    heaviest ones, relative to the first.
    """

    def condense(self, text: str, query: str) -> Condensed:
        """Return the sentences that say most, and those that answer the query."""
        if is_data(text):
            return Condensed(f"Data of {len(text)} characters that starts with {text[:64]!r}.")
        found = list(sentences(text))
        weights = term_weights(found)
        ranked = by_weight(found, weights)
        best = [sentence for _, sentence in ranked[: SUMMARY_SENTENCES + ITEMS]]
        chosen = fitting(best[:SUMMARY_SENTENCES])
        return Condensed(
            summary=" ".join(item.line for item in sorted(chosen, key=lambda item: item.start)),
            key_points=[sentence.line for sentence in best[len(chosen) :]],
            evidence=answers(found, weights, query) or heaviest(ranked, query),
        )


def is_data(text: str) -> bool:
    """Return whether a text is not for reading: mostly unreadable characters, or encoded."""
    unreadable = text.count("\ufffd")
    if unreadable * 20 > len(text):
        return True
    encoded = sum(len(match[0]) for match in ENCODED.finditer(text))
    return encoded * 2 > len(text)


def term_weights(found: Sequence[Sentence]) -> Mapping[str, float]:
    """Return the weight of each term."""
    counts: Counter[str] = Counter()
    for sentence in found:
        counts.update(sentence.terms)
    return {term: weight_of(count, len(found)) for term, count in counts.items()}


def weight_of(count: int, total: int) -> float:
    """Return the weight of a term that so many of all sentences have."""
    return math.log(1 + count) * math.log((total + 1) / count)


def by_weight(
    found: Sequence[Sentence], weights: Mapping[str, float]
) -> list[tuple[float, Sentence]]:
    """Return different sentences with their weights, the heaviest first."""
    different = {sentence.text: sentence for sentence in reversed(found)}
    weighed = []
    for sentence in different.values():
        weight = sum(weights[term] for term in sorted(sentence.terms))
        opening = 1.5 if sentence is found[0] else 1.0
        weighed.append((opening * weight / max(len(sentence.terms), FULL_TERMS), sentence))
    return sorted(weighed, key=lambda item: (-item[0], item[1].start))


def fitting(ranked: Iterable[Sentence]) -> list[Sentence]:
    """Return the first sentences, as many as a summary holds."""
    chosen, size = [], 0
    for sentence in ranked:
        size += len(sentence.text) + 1
        if size > SUMMARY_LENGTH:
            break
        chosen.append(sentence)
    return chosen


def answers(found: Sequence[Sentence], weights: Mapping[str, float], query: str) -> list[Evidence]:
    """Return different sentences that share terms with a query, the most relevant first."""
    first = itertools.islice(dict.fromkeys(terms(query)), ASKED_TERMS)
    asked = {term: matches(term, weights) for term in sorted(first)}
    worth = {
        term: max((weights[match] for match in like), default=weight_of(1, len(found)))
        for term, like in asked.items()
    }
    whole = sum(worth.values())
    known = frozenset().union(*asked.values())
    shares = [
        (sum(worth[term] for term in asked if not asked[term].isdisjoint(item.terms)) / whole, item)
        for item in {sentence.text: sentence for sentence in reversed(found)}.values()
        if not known.isdisjoint(item.terms)
    ]
    best = sorted(shares, key=lambda share: (-share[0], share[1].start))[:ITEMS]
    return [Evidence(item.text, share, item.start) for share, item in best]


def matches(asked: str, known: Iterable[str]) -> frozenset[str]:
    """Return the terms that a term of a query finds: itself, and longer ones that hold it."""
    if len(asked) < WORD_PART and not UNSPACED.fullmatch(asked):
        return frozenset(term for term in known if term == asked)
    return frozenset(term for term in known if asked in term)


def heaviest(ranked: Sequence[tuple[float, Sentence]], query: str) -> list[Evidence]:
    """Return the heaviest sentences as evidence, of no relevance to a query if there is one."""
    most = ranked[0][0] if ranked else 0.0
    return [
        Evidence(item.text, 0.0 if query or not most else weight / most, item.start)
        for weight, item in ranked[:ITEMS]
    ]
