"""Six ways to find the documents that answer a question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from example_project.library.indexes import Index
from example_project.library.models import Document
from example_project.library.passages import Sentence
from example_project.library.questions import can_answer, terms_of
from example_project.library.words import subjects_of, words

# The most passages of a ranking.
DEPTH = 60
PASSAGES_PER_DOCUMENT = 4
FEWEST_DOCUMENTS = 3
# A document is left out whose best sentence has less than this part of the highest weight.
RELEVANT = 0.5
# A passage is left out whose share of the terms is less than this part of the largest share.
FOCUS = 0.5
# The larger, the less the rank of a passage counts against its share of the terms.
SPREAD = 80
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
    """

    most_documents = 5

    def retrieve(self, index: Index, question: str) -> list[Context]:
        """Return the documents that answer a question best, best first."""
        terms = terms_of(index, question)
        if not can_answer(index, question, terms):
            return []
        found = self.focused(index, terms)
        if len(found) < FEWEST_DOCUMENTS:
            self.add_nearest(found, index, terms)
        contexts = [context(index, *pair) for pair in islice(found.items(), self.most_documents)]
        return relevant(index, contexts, terms)

    def add_nearest(self, found: dict[int, list[int]], index: Index, terms: Sequence[str]) -> None:
        """Add the documents nearest in meaning until there are enough."""
        unrelated = index.find_unrelated_manuals(terms)
        for place in [*best(index.focus(terms)), *best(index.by_meaning(terms))]:
            if index.passages[place].document not in unrelated:
                found.setdefault(index.passages[place].document, [place])
            if len(found) == FEWEST_DOCUMENTS:
                break

    def focused(self, index: Index, terms: Sequence[str]) -> dict[int, list[int]]:
        """Return the passages of a ranking about the question, by document, both best first."""
        focus, ranking = index.focus(terms), self.rank(index, terms)
        enough = FOCUS * max((focus[place] for place in ranking), default=0)
        found: dict[int, list[tuple[float, int]]] = {}
        for rank, place in enumerate(ranking):
            if focus[place] >= enough > 0:
                passage = index.passages[place]
                overlap = max(index.overlap(s, terms) for s in passage.sentences) ** 0.25
                title = 1 + 2 * index.titled(place, [*terms, *subjects_of(terms)]) ** 2
                score = focus[place] ** 2 * overlap * title / (SPREAD + rank)
                found.setdefault(passage.document, []).append((-score, place))
        ranked = {document: sorted(scored) for document, scored in found.items()}
        # The second passage of a document counts half, the third a quarter.
        order = sorted(ranked, key=lambda n: sum(s / 2**i for i, (s, _) in enumerate(ranked[n])))
        return {document: [place for _, place in ranked[document]] for document in order}

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
        terms = terms_of(index, question)
        return [compressed(index, full, terms) for full in super().retrieve(index, question)]

    def rank(self, index: Index, terms: Sequence[str]) -> list[int]:
        """Return the places of the passages by similarity and by their best sentence."""
        similar = best(index.by_similarity(terms))

        def best_overlap(place: int) -> float:
            overlaps = (index.overlap(s, terms) for s in index.passages[place].sentences)
            return max(overlaps, default=0.0)

        return fused([similar, sorted(similar, key=best_overlap, reverse=True)])


class MultiQueryRetriever(Retriever):
    """By several variants of the question, their rankings fused."""

    def rank(self, index: Index, terms: Sequence[str]) -> list[int]:
        return fused(best(index.by_similarity(variant)) for variant in variants(index, terms))


class EnsembleRetriever(Retriever):
    """By keywords, similarity, sentences and variants at once, their rankings fused."""

    most_documents = 7
    retrievers = (
        BM25Retriever(),
        NaiveRetriever(),
        ContextualCompressionRetriever(),
        MultiQueryRetriever(),
    )

    def rank(self, index: Index, terms: Sequence[str]) -> list[int]:
        return fused(retriever.rank(index, terms) for retriever in self.retrievers)


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
