"""Six ways to find the documents that answer a question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from example_project.library.indexes import Index
from example_project.library.models import Document
from example_project.library.passages import Sentence
from example_project.library.questions import is_spoken_of, terms_of
from example_project.library.words import subjects_of, words

# How far down a ranking anybody looks.
DEPTH = 60
PASSAGES_PER_DOCUMENT = 4
FEWEST_DOCUMENTS = 3
# A document that says less of the question than this part of the best one's is left out.
RELEVANT = 0.5
# So is a passage that has less than this part of the best one's words.
FOCUS = 0.5
# How little ranks stand out where passages speak of the question more or less.
SPREAD = 80
# Of reciprocal rank fusion: how little the very first ranks stand out (Cormack et al., 2009).
FUSION = 60


@dataclass(frozen=True)
class Context:
    """A document that was found, with what in it answers the question.

    Attributes:
        document: the document.
        sentences: what was found, best passage first.
        reserve: what else the document says.
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
        """The documents that answer a question best, best first."""
        terms = terms_of(index, question)
        if not is_spoken_of(index, question, terms):
            return []
        found = self.focused(index, terms)
        if len(found) < FEWEST_DOCUMENTS:
            self.make_up(found, index, terms)
        contexts = [context(index, *pair) for pair in islice(found.items(), self.most_documents)]
        return relevant(index, contexts, terms)

    def make_up(self, found: dict[int, list[int]], index: Index, terms: Sequence[str]) -> None:
        """Add the documents nearest in meaning until there are enough."""
        silent = index.manuals_silent_about(terms)
        for place in [*best(index.focus(terms)), *best(index.by_meaning(terms))]:
            if index.passages[place].document not in silent:
                found.setdefault(index.passages[place].document, [place])
            if len(found) == FEWEST_DOCUMENTS:
                break

    def focused(self, index: Index, terms: Sequence[str]) -> dict[int, list[int]]:
        """The passages of a ranking that speak of the question, by document, both best first."""
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
        """The places of the passages that have to do with the terms, best first."""
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
    """By meaning: what resembles the same passages as the question, whatever its words."""

    def rank(self, index: Index, terms: Sequence[str]) -> list[int]:
        return best(index.by_meaning(terms))


class ContextualCompressionRetriever(Retriever):
    """By similarity, and of what is found only the sentences that speak of the question."""

    def retrieve(self, index: Index, question: str) -> list[Context]:
        """The documents that answer a question best, cut to what answers it."""
        terms = terms_of(index, question)
        return [compressed(index, full, terms) for full in super().retrieve(index, question)]

    def rank(self, index: Index, terms: Sequence[str]) -> list[int]:
        """The passages whose best sentence says most."""
        similar = best(index.by_similarity(terms))

        def most_said(place: int) -> float:
            said = (index.overlap(s, terms) for s in index.passages[place].sentences)
            return max(said, default=0.0)

        return fused([similar, sorted(similar, key=most_said, reverse=True)])


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
    """The places of the highest scores, equal ones in their order, none without a score."""
    places = [place for place, score in enumerate(scores) if score > 1e-6]
    return sorted(places, key=scores.__getitem__, reverse=True)[:DEPTH]


def fused(rankings: Iterable[Sequence[int]]) -> list[int]:
    """One ranking out of several, by reciprocal rank fusion."""
    scores: Counter[int] = Counter()
    for ranking in rankings:
        for rank, place in enumerate(ranking):
            scores[place] += 1 / (FUSION + rank)
    return sorted(scores, key=lambda place: (-scores[place], place))[:DEPTH]


def variants(index: Index, terms: Sequence[str]) -> Iterator[list[str]]:
    """The question, what is rare in it, and the question in the library's own words."""
    yield list(terms)
    weights = sorted(terms, key=index.weight, reverse=True)
    yield weights[: max(1, len(weights) // 2)]
    nearest = best(index.by_similarity(terms))[:3]
    told = Counter(word for place in nearest for word in words(index.passages[place].text))
    yield [*terms, *sorted(told, key=lambda word: -told[word] * index.weight(word))[:8]]


def context(index: Index, document: int, places: Sequence[int]) -> Context:
    """A document with the sentences of its passages that were found, in its own order."""
    taken = sorted(places[:PASSAGES_PER_DOCUMENT])
    others = (n for n in index.places_of[document] if n not in taken)
    return Context(index.documents[document], *(index.sentences(n) for n in (taken, others)))


def relevant(index: Index, contexts: Sequence[Context], terms: Sequence[str]) -> list[Context]:
    """The contexts without those that hardly speak of the question, but a few in any case."""
    said = [max((index.overlap(s, terms) for s in c.sentences), default=0) for c in contexts]
    most = sorted(range(len(said)), key=lambda rank: -said[rank])
    kept = {rank for rank in most if said[rank] >= RELEVANT * said[most[0]]}
    kept.update(most[:FEWEST_DOCUMENTS], [0] if said[0] else [])
    return [contexts[rank] for rank in sorted(kept)]


def compressed(index: Index, full: Context, terms: Sequence[str]) -> Context:
    """A context in which only what has words of the question counts as found, or one sentence."""
    everything = (*full.sentences, *full.reserve)
    speaking = tuple(s for s in everything if index.overlap(s, terms) > 0) or full.sentences[:1]
    return Context(full.document, speaking, tuple(s for s in everything if s not in speaking))
