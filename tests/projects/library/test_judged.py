"""Thirty questions of users: their answers are right, or the library has none."""

from __future__ import annotations

from collections import Counter

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


def test_there_are_thirty_questions_and_some_have_no_answer():
    assert len({each.question for each in QUESTIONS}) == 30
    assert 5 <= sum(not each.first for each in QUESTIONS) <= 8


def test_most_answers_are_right_and_none_is_about_another_topic():
    for retriever, least in RETRIEVERS.items():
        verdicts = {each.question: each.verdict(retriever()) for each in QUESTIONS}
        counted = Counter(verdicts.values())
        assert counted["right"] >= least, (retriever, counted)
        assert [question for question, verdict in verdicts.items() if verdict == "wrong"] == []
