"""Six ways to find the documents that answer a question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from example_project.library.indexes import Index
from example_project.library.models import Document
from example_project.library.passages import Sentence
from example_project.library.questions import Asked, read_question
from example_project.library.words import words

# The most passages of a ranking.
DEPTH = 60
PASSAGES_PER_DOCUMENT = 4
FEWEST_DOCUMENTS = 3
# A document is left out whose best sentence has less than this part of the highest weight.
RELEVANT = 0.5
# The larger, the less the rank of a document counts against how well it fits the question.
SPREAD = 20
# How much the title of a document counts, and its length.
TITLE, LENGTH = 1.2, 0.15
# The least share of the terms in the best passage; where the title answers the question, the
# least share, of a title that answers most of the question, and its least lead over the next one.
SURE, LEAST, MOSTLY, LEAD = 0.65, 0.2, 0.6, 1.1
# The constant of reciprocal rank fusion: the larger, the less the first ranks count more than
# the others (Cormack et al., 2009).
FUSION = 60


@dataclass(frozen=True)
class Context:
    """A document that was found, with the sentences that answer the question.

    Attributes:
        document: the document.
        sentences: the sentences of the passages that were found.
        reserve: the other sentences of the document.
    """

    document: Document
    sentences: tuple[Sentence, ...]
    reserve: tuple[Sentence, ...] = ()


class Retriever:
    """Ranks the passages of an index; the documents of the best ones are the context.

    Attributes:
        most_documents: how many documents a context has at most.
        expands: whether a question is searched for in the words of the reference as well.
    """

    most_documents = 5
    expands = False

    def read(self, index: Index, question: str) -> Asked:
        """Return what a question asks for."""
        return read_question(index, question, self.expands)

    def retrieve(self, index: Index, question: str) -> list[Context]:
        """Return the documents that answer a question best, best first; none if that is unsure."""
        asked = self.read(index, question)
        fits = {fit.document: fit for fit in find_fits(index, asked)}
        ranks: dict[int, int] = {}
        for rank, place in enumerate(self.rank(index, list(asked.weights))):
            ranks.setdefault(index.passages[place].document, rank)
        scores = {n: fits[n].score / (SPREAD + rank) for n, rank in ranks.items() if n in fits}
        order = sorted(scores, key=lambda n: -scores[n])
        if not order or not is_sure(asked, [fits[n] for n in order], [scores[n] for n in order]):
            return []
        found = {n: fits[n].places for n in order[: self.most_documents]}
        if len(found) < FEWEST_DOCUMENTS:
            self.add_nearest(found, index, list(asked.weights))
        contexts = [context(index, *pair) for pair in found.items()]
        return relevant(index, contexts, list(asked.weights))

    def add_nearest(
        self, found: dict[int, Sequence[int]], index: Index, terms: Sequence[str]
    ) -> None:
        """Add the documents nearest in meaning until there are enough."""
        unrelated = index.find_unrelated_manuals(terms)
        for place in best(index.by_meaning(terms)):
            if index.passages[place].document not in unrelated:
                found.setdefault(index.passages[place].document, [place])
            if len(found) == FEWEST_DOCUMENTS:
                break

    def rank(self, index: Index, terms: Sequence[str]) -> list[int]:
        """Return the places of the passages that match the terms, best first."""
        raise NotImplementedError


class NaiveRetriever(Retriever):
    """By the similarity of TF-IDF vectors."""

    def rank(self, index: Index, terms: Sequence[str]) -> list[int]:
        return best(index.by_similarity(terms))


class BM25Retriever(Retriever):
    """By keywords, the rare ones first."""

    def rank(self, index: Index, terms: Sequence[str]) -> list[int]:
        return best(index.by_keywords(terms))


class SemanticRetriever(Retriever):
    """By meaning: passages that resemble the same passages as the question does."""

    def rank(self, index: Index, terms: Sequence[str]) -> list[int]:
        return best(index.by_meaning(terms))


class ContextualCompressionRetriever(Retriever):
    """By similarity, with only the sentences that share words with the question."""

    def retrieve(self, index: Index, question: str) -> list[Context]:
        """Return the documents that answer a question best, with only these sentences."""
        terms = self.read(index, question).weights
        return [compressed(index, full, list(terms)) for full in super().retrieve(index, question)]

    def rank(self, index: Index, terms: Sequence[str]) -> list[int]:
        """Return the places of the passages by similarity and by their best sentence."""
        similar = best(index.by_similarity(terms))

        def best_overlap(place: int) -> float:
            overlaps = (index.overlap(s, terms) for s in index.passages[place].sentences)
            return max(overlaps, default=0.0)

        return fused([similar, sorted(similar, key=best_overlap, reverse=True)])


class MultiQueryRetriever(Retriever):
    """By several variants of the question, also in the reference's words, their rankings fused."""

    expands = True

    def rank(self, index: Index, terms: Sequence[str]) -> list[int]:
        return fused(best(index.by_similarity(variant)) for variant in variants(index, terms))


class EnsembleRetriever(Retriever):
    """By keywords, similarity, sentences and variants at once, their rankings fused."""

    most_documents = 7
    expands = True
    retrievers = (
        BM25Retriever(),
        NaiveRetriever(),
        ContextualCompressionRetriever(),
        MultiQueryRetriever(),
    )

    def rank(self, index: Index, terms: Sequence[str]) -> list[int]:
        return fused(retriever.rank(index, terms) for retriever in self.retrievers)


@dataclass(frozen=True)
class Fit:
    """How well a document fits a question.

    Attributes:
        document: the document's place.
        score: the higher, the better.
        cover: the share of the terms in the best passage.
        title: the share of the title that the question asks for.
        places: the passages with some of the terms, best first.
    """

    document: int
    score: float
    cover: float
    title: float
    places: Sequence[int]


def find_fits(index: Index, asked: Asked) -> Iterator[Fit]:
    """Yield the documents that have some of the terms."""
    cover, unrelated = index.cover(asked.weights), index.find_unrelated_manuals(asked.weights)
    for document, places in index.places_of.items():
        found = sorted((n for n in places if cover[n]), key=lambda n: -cover[n])
        if found and document not in unrelated:
            title = index.titled(document, asked.aims)
            score = cover[found[0]] + 0.1 * sum(cover[place] for place in found[1:3])
            score *= (1 + TITLE * title**1.5) * (1 - LENGTH * math.log10(len(places)))
            yield Fit(document, score, cover[found[0]], title, found)


def is_sure(asked: Asked, fits: Sequence[Fit], scores: Sequence[float]) -> bool:
    """Whether the first document is about the question, and does not share a word by chance."""
    first = fits[0]
    leads = len(scores) == 1 or scores[0] >= LEAD * scores[1]
    is_titled = first.title >= 0.9 or (first.title >= MOSTLY and leads)
    return first.cover >= SURE or (is_titled and first.cover >= LEAST and not asked.has_unknown)


def best(scores: Sequence[float]) -> list[int]:
    """Return the places of the highest scores, equal ones in their order, none without a score."""
    places = [place for place, score in enumerate(scores) if score > 1e-6]
    return sorted(places, key=scores.__getitem__, reverse=True)[:DEPTH]


def fused(rankings: Iterable[Sequence[int]]) -> list[int]:
    """Return one ranking made of several by reciprocal rank fusion."""
    scores: Counter[int] = Counter()
    for ranking in rankings:
        for rank, place in enumerate(ranking):
            scores[place] += 1 / (FUSION + rank)
    return sorted(scores, key=lambda place: (-scores[place], place))[:DEPTH]


def variants(index: Index, terms: Sequence[str]) -> Iterator[list[str]]:
    """Yield the question, its rarest terms, and the question with words of similar passages."""
    yield list(terms)
    weights = sorted(terms, key=index.weight, reverse=True)
    yield weights[: max(1, len(weights) // 2)]
    nearest = best(index.by_similarity(terms))[:3]
    counts = Counter(word for place in nearest for word in words(index.passages[place].text))
    yield [*terms, *sorted(counts, key=lambda word: -counts[word] * index.weight(word))[:8]]


def context(index: Index, document: int, places: Sequence[int]) -> Context:
    """Return a document with the sentences of the passages that were found, in their order."""
    taken = sorted(places[:PASSAGES_PER_DOCUMENT])
    others = (n for n in index.places_of[document] if n not in taken)
    return Context(index.documents[document], *(index.sentences(n) for n in (taken, others)))


def relevant(index: Index, contexts: Sequence[Context], terms: Sequence[str]) -> list[Context]:
    """Return the contexts with the highest weights, and a few in any case."""
    weights = [max((index.overlap(s, terms) for s in c.sentences), default=0) for c in contexts]
    most = sorted(range(len(weights)), key=lambda rank: -weights[rank])
    kept = {rank for rank in most if weights[rank] >= RELEVANT * weights[most[0]]}
    kept.update(most[:FEWEST_DOCUMENTS], [0] if weights[0] else [])
    return [contexts[rank] for rank in sorted(kept)]


def compressed(index: Index, full: Context, terms: Sequence[str]) -> Context:
    """Return a context with only the sentences that share words with the question, or with one."""
    everything = (*full.sentences, *full.reserve)
    shared = tuple(s for s in everything if index.overlap(s, terms) > 0) or full.sentences[:1]
    return Context(full.document, shared, tuple(s for s in everything if s not in shared))
