"""What the retrievers search in, built once per process and edition of the library.

scikit-learn and bm25s are imported here alone, and not before something is searched for.
"""

from __future__ import annotations

import keyword
import math
import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from example_project.library.corpus import corpus_version
from example_project.library.exceptions import LibraryUnavailable
from example_project.library.models import Document
from example_project.library.passages import Passage, Sentence, passages_of
from example_project.library.words import words

if TYPE_CHECKING:
    import numpy

LATENT_DIMENSIONS = 120

_built: dict[str, Index] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class Index:
    """The passages of one edition of the library, searchable in three ways.

    Attributes:
        version: the edition.
        documents: the documents, by their place.
        passages: what is searched for; scores are in this order.
        bm25: ranks by keywords.
        vectorizer: makes TF-IDF vectors.
        vectors: those of the passages.
        projection: from TF-IDF vectors into the latent space.
        latent: the passages there, each of length one.
    """

    version: str
    documents: Sequence[Document]
    passages: Sequence[Passage]
    bm25: Any
    vectorizer: Any
    vectors: Any
    projection: Any
    latent: Any

    @cached_property
    def places_of(self) -> dict[int, list[int]]:
        """The places of every document's passages."""
        places: dict[int, list[int]] = {}
        for place, passage in enumerate(self.passages):
            places.setdefault(passage.document, []).append(place)
        return places

    @cached_property
    def names(self) -> list[str]:
        """The words that the documents and their sections are titled with, and the keywords."""
        titles = [f"{self.documents[p.document].title} {p.heading}" for p in self.passages]
        found = set(re.findall(r"[a-z_]{3,}", " ".join(titles).lower()))
        return sorted(found.union(keyword.kwlist))

    @cached_property
    def topics(self) -> frozenset[str]:
        """The same as questions have them."""
        return frozenset(words(" ".join(self.names)))

    def sentences(self, places: Iterable[int]) -> tuple[Sentence, ...]:
        """The sentences of some passages."""
        return tuple(s for place in places for s in self.passages[place].sentences)

    def by_keywords(self, terms: Sequence[str]) -> numpy.ndarray:
        """The BM25 score of every passage."""
        return self.bm25.get_scores(list(terms))

    def by_similarity(self, terms: Sequence[str]) -> numpy.ndarray:
        """The cosine of the TF-IDF vectors of every passage and the terms."""
        return (self.vectors @ self.vectorizer.transform([terms]).T).toarray().ravel()

    def by_meaning(self, terms: Sequence[str]) -> numpy.ndarray:
        """The same cosine after latent semantic analysis: related words count as well."""
        from sklearn.preprocessing import normalize

        question = normalize(self.projection.transform(self.vectorizer.transform([terms])))
        return self.latent @ question.ravel()

    def weight(self, term: str) -> float:
        """How much a word tells passages apart; nothing if no passage has it."""
        place = self.vectorizer.vocabulary_.get(term)
        return 0.0 if place is None else float(self.vectorizer.idf_[place])

    def share(self, terms: Sequence[str]) -> float:
        """The largest share of some words that a passage has, from 0 to 1.

        Rare words count more, those that no passage has count most.
        """
        rarest = math.log(len(self.passages) + 1) + 1
        weights = {term: self.weight(term) or rarest for term in dict.fromkeys(terms)}
        known = [term for term in weights if self.weight(term)]
        if not known:
            return 0.0
        columns = self.vectors[:, [self.vectorizer.vocabulary_[term] for term in known]] > 0
        return float((columns @ [weights[term] for term in known]).max()) / sum(weights.values())

    def overlap(self, sentence: Sentence, terms: Iterable[str]) -> float:
        """How much of what is asked for a sentence speaks of.

        A long sentence has to speak of more; the first of a passage says what it is about.
        """
        # Sorted: the sum of floats must not depend on the order of a set.
        shared = sum(self.weight(term) for term in sorted(sentence.words.intersection(terms)))
        return shared * (1.4 if sentence.opens else 1) / (len(sentence.words) + 8) ** 0.5


def current_index() -> Index:
    """The index of the library as it is now.

    Raises:
        LibraryUnavailable: if the library is empty or nothing is installed to search it.
    """
    version = corpus_version()
    if not version:
        raise LibraryUnavailable("The library is empty. Fill it with: manage.py seed")
    index = _built.get(version)
    if index is None:
        with _lock:
            index = _built.get(version)
            if index is None:
                index = build(version)
                _built.clear()
                _built[version] = index
    return index


def build(version: str) -> Index:
    """Read all documents and index their passages."""
    try:
        import bm25s
        import numpy
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.preprocessing import normalize
    except ImportError as exc:
        raise LibraryUnavailable("bm25s or scikit-learn is not installed.") from exc
    documents = list(Document.objects.order_by("name"))
    passages = passages_of(documents)
    if not passages:
        raise LibraryUnavailable("The library holds nothing but empty documents.")
    texts = [indexed_words(documents[passage.document], passage) for passage in passages]
    bm25 = bm25s.BM25()
    bm25.index(texts, show_progress=False)
    vectorizer = TfidfVectorizer(analyzer=list, sublinear_tf=True)
    vectors = vectorizer.fit_transform(texts)
    dimensions = max(1, min(LATENT_DIMENSIONS, *vectors.shape) - 1)
    projection = TruncatedSVD(dimensions, random_state=0)
    # What a single passage explains of the variance, which nobody asks, is nought by nought.
    with numpy.errstate(invalid="ignore"):
        latent = normalize(projection.fit_transform(vectors))
    return Index(version, documents, passages, bm25, vectorizer, vectors, projection, latent)


def indexed_words(document: Document, passage: Passage) -> list[str]:
    """The words a passage is found by: its own, and those of what it stands under."""
    above = f"{document.title}\n{passage.heading}\n"
    return words(above * 2 + passage.text)
