"""Thirty questions that users ask: the answers are right, or there is none."""

from __future__ import annotations

import functools
from collections import Counter

import pytest

from example_project.library import retrievers
from tests.projects.library.judged import judged_questions

QUESTIONS = judged_questions()
RETRIEVERS = {
    retrievers.NaiveRetriever: 20,
    retrievers.BM25Retriever: 20,
    retrievers.ContextualCompressionRetriever: 20,
    retrievers.MultiQueryRetriever: 20,
    retrievers.EnsembleRetriever: 27,
    retrievers.SemanticRetriever: 20,
}
every_retriever = pytest.mark.parametrize("retriever", RETRIEVERS, ids=lambda r: r.__name__)


@functools.cache
def verdicts_of(retriever) -> dict[str, str]:
    """The verdict of every question, by its words."""
    return {asked.question: asked.verdict(retriever()) for asked in QUESTIONS}


def test_there_are_thirty_questions_and_some_have_no_answer():
    assert len({asked.question for asked in QUESTIONS}) == 30
    assert 5 <= sum(not asked.first for asked in QUESTIONS) <= 8


@every_retriever
def test_most_answers_are_right(retriever):
    verdicts = Counter(verdicts_of(retriever).values())
    assert verdicts["right"] >= RETRIEVERS[retriever], verdicts


@every_retriever
def test_no_answer_is_about_another_topic(retriever):
    verdicts = verdicts_of(retriever)
    assert [question for question, verdict in verdicts.items() if verdict == "wrong"] == []
