"""Questions of users: most answers are right, also to questions that nothing was tuned to."""

from __future__ import annotations

from collections import Counter

from example_project.library import retrievers
from tests.projects.library.judged import judged_questions

EXPANDING = (retrievers.MultiQueryRetriever, retrievers.EnsembleRetriever)
OTHERS = (
    retrievers.NaiveRetriever,
    retrievers.BM25Retriever,
    retrievers.ContextualCompressionRetriever,
    retrievers.SemanticRetriever,
)


def count(name: str) -> dict[type, Counter[str]]:
    questions = judged_questions(name)
    return {
        each: Counter(question.verdict(each()) for question in questions)
        for each in (*EXPANDING, *OTHERS)
    }


def test_the_questions_that_were_tuned_to_are_answered():
    counted = count("questions")
    for retriever in EXPANDING:
        assert counted[retriever]["right"] >= 50, counted[retriever]
        assert counted[retriever]["wrong"] <= 1
    for retriever in OTHERS:
        assert counted[retriever]["right"] >= 30, counted[retriever]


def test_most_questions_that_were_kept_are_answered():
    counted = count("kept_questions")
    for retriever in EXPANDING:
        assert counted[retriever]["right"] >= 22, counted[retriever]
        assert counted[retriever]["wrong"] <= 5
