"""The index that retrievers search, built once for each process and version of the library."""

from __future__ import annotations

import keyword
import math
import re
import threading
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from example_project.library.corpus import corpus_version
from example_project.library.exceptions import LibraryUnavailable
from example_project.library.keyword_search import KeywordSearch
from example_project.library.models import Document
from example_project.library.passages import Passage, Sentence, passages_of
from example_project.library.term_vectors import TermVectors
from example_project.library.words import words

# How much a row of a table counts against a sentence.
ROW = 0.5
# Such as: "pdb" — The Python Debugger.
MANUAL = re.compile(r"[\"“]\w+[\"”] [\u2013\u2014] ")
_built: dict[str, Index] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class Index:
    """The passages of one version of the library, searchable in three ways.

    Attributes:
        version: the version of the library.
        documents: the documents, by their place.
        passages: the passages; scores are in this order.
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
        """The words of all titles and headings, and the keywords of Python."""
        titles = [f"{self.documents[p.document].title} {p.heading}" for p in self.passages]
        found = set(re.findall(r"[a-z_]{3,}", " ".join(titles).lower()))
        return sorted(found.union(keyword.kwlist, (name.strip("_") for name in found)))

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
        """Return the weight of a word: the rarer, the higher; 0 if no passage has the word."""
        return self.vectors.weights.get(term, 0.0) * (1.5 if term.startswith("the ") else 1)

    def weights(self, terms: Sequence[str]) -> dict[str, float]:
        """Return the weight of each term, the highest for terms that no passage has."""
        rarest = math.log(len(self.passages) + 1) + 1
        return {term: self.weight(term) or rarest for term in dict.fromkeys(terms)}

    def cover(self, weights: Mapping[str, float]) -> list[float]:
        """Return for every passage the share of the terms that it has, from 0 to 1.

        Half of a share is that of the whole passage, half that of its best sentence and heading.
        """
        found: dict[int, dict[str, float]] = {}
        for term in weights:
            for place, _ in self.vectors.postings.get(term, ()):
                often = self.counts[place][term]
                found.setdefault(place, {})[term] = often / (often + 0.6)
        shares, total = [0.0] * len(self.passages), sum(weights.values())
        for place, shared in found.items():
            above = self.headings[place]
            best = max(
                sum(weights[term] for term in shared if term in s.words or term in above)
                for s in self.passages[place].sentences
            )
            whole = sum(weights[term] * share for term, share in shared.items())
            shares[place] = (whole + best) / 2 / total
        return shares

    @cached_property
    def counts(self) -> list[Counter[str]]:
        """How often every passage has each of its words."""
        documents = self.documents
        return [
            Counter(words(f"{documents[p.document].title}\n{p.heading}\n{p.text}"))
            for p in self.passages
        ]

    def titled(self, document: int, terms: Container[str]) -> float:
        """Return the share of a document's title and name that the terms have, from 0 to 1."""
        found = self.documents[document]
        title = set(words(f"{found.title} {found.name.replace('-', ' ')}"))
        shared = sum(self.weight(word) for word in sorted(title) if word in terms)
        return shared / (sum(map(self.weight, sorted(title))) or 1)

    @cached_property
    def headings(self) -> list[frozenset[str]]:
        """The words of every passage's heading and of its document's title."""
        documents = self.documents
        return [
            frozenset(words(f"{documents[passage.document].title}\n{passage.heading}"))
            for passage in self.passages
        ]

    def find_unrelated_manuals(self, terms: Iterable[str]) -> set[int]:
        """Return the manuals of programs whose own words are not among the terms."""
        return {document for document, own in self.own_words.items() if not own.intersection(terms)}

    @cached_property
    def own_words(self) -> dict[int, set[str]]:
        """The words that only the manual of a program has, and the words of its title."""
        own = {}
        for number, document in enumerate(self.documents):
            if MANUAL.match(document.title):
                inside = set(self.places_of.get(number, ()))
                only = (
                    term
                    for term, found in self.vectors.postings.items()
                    if inside.issuperset(place for place, _ in found)
                )
                own[number] = {*words(document.title), *only}
        return own

    def overlap(self, sentence: Sentence, terms: Iterable[str]) -> float:
        """Return the weight of the terms that a sentence has.

        A long sentence counts less, and the first sentence of a paragraph counts more.
        """
        # Sorted: the sum of floats must not depend on the order of a set.
        shared = sum(self.weight(term) for term in sorted(sentence.words.intersection(terms)))
        boost = 1.5 if sentence.name_words.intersection(terms) else ROW if sentence.is_row else 1
        return shared * (1.4 if sentence.opens else 1) * boost / (len(sentence.words) + 8) ** 0.5


def current_index() -> Index:
    """Return the index of the present library.

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
    """Return the words by which a passage is found: its own, and those of its title and heading."""
    above = f"{document.title}\n{passage.heading}\n"
    return words(above * 2 + passage.text)
