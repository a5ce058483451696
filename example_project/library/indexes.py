"""What the retrievers search in, built once per process and edition of the library."""

from __future__ import annotations

import keyword
import math
import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from example_project.library.corpus import corpus_version
from example_project.library.exceptions import LibraryUnavailable
from example_project.library.keyword_search import KeywordSearch
from example_project.library.models import Document
from example_project.library.passages import Passage, Sentence, passages_of
from example_project.library.term_vectors import TermVectors
from example_project.library.words import words

_built: dict[str, Index] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class Index:
    """The passages of one edition of the library, searchable in three ways.

    Attributes:
        version: the edition.
        documents: the documents, by their place.
        passages: what is searched for; scores are in this order.
        keywords: ranks by keywords.
        vectors: compares by similarity and by meaning.
    """

    version: str
    documents: Sequence[Document]
    passages: Sequence[Passage]
    keywords: KeywordSearch
    vectors: TermVectors

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

    def by_keywords(self, terms: Sequence[str]) -> list[float]:
        """The BM25 score of every passage."""
        return self.keywords.scores(terms)

    def by_similarity(self, terms: Sequence[str]) -> list[float]:
        """The cosine of the TF-IDF vectors of every passage and the terms."""
        return self.vectors.similarities(self.vectors.vector(terms))

    def by_meaning(self, terms: Sequence[str]) -> list[float]:
        """How much every passage resembles the passages that the terms resemble."""
        return self.vectors.related(self.vectors.vector(terms))

    def weight(self, term: str) -> float:
        """How much a word tells passages apart; nothing if no passage has it."""
        return self.vectors.weights.get(term, 0.0)

    def share(self, terms: Sequence[str]) -> float:
        """The largest share of some words that a passage has, from 0 to 1.

        Rare words count more, those that no passage has count most.
        """
        rarest = math.log(len(self.passages) + 1) + 1
        weights = {term: self.weight(term) or rarest for term in dict.fromkeys(terms)}
        shares = [0.0] * len(self.passages)
        for term, weight in weights.items():
            for place, _ in self.vectors.postings.get(term, ()):
                shares[place] += weight
        return max(shares) / sum(weights.values()) if weights else 0.0

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
        LibraryUnavailable: if the library is empty or SQLite cannot search it.
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
    documents = list(Document.objects.order_by("name"))
    passages = passages_of(documents)
    if not passages:
        raise LibraryUnavailable("The library holds nothing but empty documents.")
    texts = [indexed_words(documents[passage.document], passage) for passage in passages]
    return Index(version, documents, passages, KeywordSearch(texts), TermVectors(texts))


def indexed_words(document: Document, passage: Passage) -> list[str]:
    """The words a passage is found by: its own, and those of what it stands under."""
    above = f"{document.title}\n{passage.heading}\n"
    return words(above * 2 + passage.text)
