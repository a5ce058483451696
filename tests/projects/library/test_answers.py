"""The documents that the six retrievers find, and the answers made of them."""

from __future__ import annotations

import re

import pytest
from django.core.cache import cache

from example_project.library import retrievers
from example_project.library.answers import answer
from example_project.library.indexes import current_index
from tests.projects.library.questions import FOREIGN_QUESTIONS, QUESTIONS

RETRIEVERS = [
    retrievers.NaiveRetriever(),
    retrievers.BM25Retriever(),
    retrievers.ContextualCompressionRetriever(),
    retrievers.MultiQueryRetriever(),
    retrievers.EnsembleRetriever(),
    retrievers.SemanticRetriever(),
]
pytestmark = pytest.mark.parametrize("retriever", RETRIEVERS, ids=lambda each: type(each).__name__)


def test_answers_have_the_words_of_their_subject_and_cite_each_document(retriever):
    for question, terms in QUESTIONS.items():
        text, count = answer(retriever, question).values()
        assert [term for term in terms if term.lower() not in text.lower()] == [], question
        assert 3 <= count <= 7
        paragraphs, _, sources = text.partition("\n\nSources:\n")
        context = retriever.retrieve(current_index(), question)
        listed = [(f"[{n}]", each.document.name) for n, each in enumerate(context, 1)]
        assert re.findall(r"^(\[\d+\]) .+ \(([-\w]+)\)$", sources, re.M) == listed
        assert re.findall(r"\[\d+\]$", paragraphs, re.M) == [number for number, _ in listed]


def test_a_question_about_another_subject_has_no_context(retriever):
    for question in FOREIGN_QUESTIONS:
        text, count = answer(retriever, question).values()
        assert (count, "nothing about this" in text) == (0, True), question


def test_the_same_question_has_the_same_answer_stored_or_not(retriever, monkeypatch):
    question = "How does slicing work?"
    first = answer(retriever, question)
    cache.clear()
    assert answer(retriever, question) == first
    monkeypatch.setattr(type(retriever), "retrieve", None)
    assert answer(retriever, question) == first
