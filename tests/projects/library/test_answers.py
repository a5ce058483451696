"""What the six retrievers find, and what is made of it."""

from __future__ import annotations

import functools
import re
import statistics
import time

import pytest
from django.core.cache import cache

from example_project.library import retrievers
from example_project.library.answers import answer
from example_project.library.indexes import current_index
from example_project.library.plain_text import plain
from example_project.library.words import words
from tests.projects.library.questions import (
    FOREIGN_QUESTIONS,
    HARD_QUESTIONS,
    QUESTIONS,
    WITH_AN_UNUSUAL_WORD,
)

RETRIEVERS = [
    retrievers.NaiveRetriever(),
    retrievers.BM25Retriever(),
    retrievers.ContextualCompressionRetriever(),
    retrievers.MultiQueryRetriever(),
    retrievers.EnsembleRetriever(),
    retrievers.SemanticRetriever(),
]
every_retriever = pytest.mark.parametrize("retriever", RETRIEVERS, ids=lambda r: type(r).__name__)
every_question = pytest.mark.parametrize("question", [*QUESTIONS, *HARD_QUESTIONS])


@functools.cache
def given_once(retriever, question: str) -> dict:
    """The answer that all who look at one share: a retriever writes the same one each time."""
    return answer(retriever, question)


@functools.cache
def found_once(retriever, question: str) -> list:
    """The context that all who look at one share."""
    return retriever.retrieve(current_index(), question)


def found(retriever, question: str) -> list[str]:
    """The names of the documents that a retriever finds."""
    return [context.document.name for context in found_once(retriever, question)]


@every_retriever
@every_question
def test_answers_have_the_usual_length_and_context(retriever, question):
    given = given_once(retriever, question)
    assert 1000 <= len(given["answer"]) <= 2500
    assert 3 <= given["context_document_count"] <= 7


@every_retriever
@pytest.mark.parametrize("question", QUESTIONS)
def test_every_answer_speaks_of_what_was_asked(retriever, question):
    text = given_once(retriever, question)["answer"]
    assert [term for term in QUESTIONS[question] if term.lower() not in text.lower()] == []


@every_retriever
@every_question
def test_every_document_of_the_context_is_a_source_and_cited(retriever, question):
    given = given_once(retriever, question)
    text, _, sources = given["answer"].partition("\n\nSources:\n")
    listed = re.findall(r"^\[(\d+)\] .+ \(([-\w]+)\)$", sources, re.M)
    assert [int(number) for number, _ in listed] == [
        n + 1 for n in range(given["context_document_count"])
    ]
    assert [name for _, name in listed] == found(retriever, question)
    assert [f"[{number}]" for number, _ in listed] == re.findall(r"\[\d+\]$", text, re.M)


def paragraphs(given) -> list[str]:
    """The paragraphs of an answer, their numbers left out."""
    quoted = given["answer"].split("\n\n")[:-1]
    return [re.sub(r" \[\d+\]$", "", paragraph) for paragraph in quoted]


@every_retriever
@every_question
def test_every_sentence_of_an_answer_stands_in_the_document_cited(retriever, question):
    """In its plain text: marks, footnotes and line ends are no part of a sentence."""
    contexts = found_once(retriever, question)
    quoted = paragraphs(given_once(retriever, question))
    for context, paragraph in zip(contexts, quoted, strict=True):
        text = " ".join(plain(context.document.text).split())
        said = [s.text for s in (*context.sentences, *context.reserve) if s.text in paragraph]
        assert said
        assert all(sentence in text for sentence in said)
        left = paragraph
        for sentence in sorted(said, key=len, reverse=True):
            left = left.replace(sentence, "")
        assert left.strip() == ""


MARKS = {
    "emphasis": r"(?<![\w\"*(.,])\*\*?\w[^\"*]*\*",
    "a number of a footnote": r"\w \[\d+\]",
    "a broken word": r"\w- [a-z]",
    "doubled quotation marks": r"[“\"]\"\w+\"[”\"]",
    "a reference": r"\b[Ss]ee (?:section|above|below|also)\b|\bPEP \d+ - ",
}


@every_retriever
@every_question
def test_an_answer_is_plain_text(retriever, question):
    said = " ".join(paragraphs(given_once(retriever, question)))
    left = {name: re.findall(mark, said) for name, mark in MARKS.items()}
    assert {name: found for name, found in left.items() if found} == {}


@every_retriever
@every_question
def test_the_paragraphs_of_an_answer_are_whole_sentences(retriever, question):
    for paragraph in paragraphs(given_once(retriever, question)):
        assert re.match(r"[A-Z\"“\u2018]|__[a-z]|\S[^.]*(?:\.\w[^.]*)*: [A-Z\"“]", paragraph)
        assert paragraph.endswith((".", ".)", ".”"))
        assert not re.match(r"(?:This|It|They|These|However|Otherwise)\b", paragraph)


@every_retriever
def test_the_same_question_has_the_same_answer(retriever):
    first = answer(retriever, "How does slicing work?")
    cache.clear()
    assert answer(retriever, "How does slicing work?") == first


@every_retriever
@pytest.mark.parametrize("question", ["zzzz qqqq", "7", "?", "东京", *FOREIGN_QUESTIONS])
def test_what_the_library_has_nothing_about_has_no_context(retriever, question):
    given = given_once(retriever, question)
    assert given["context_document_count"] == 0
    assert "nothing about this" in given["answer"]


@every_retriever
@pytest.mark.parametrize("question", WITH_AN_UNUSUAL_WORD)
def test_one_unusual_word_does_not_keep_a_question_from_its_answer(retriever, question):
    assert given_once(retriever, question)["context_document_count"] >= 3
    assert WITH_AN_UNUSUAL_WORD[question] in found(retriever, question)


@every_retriever
def test_misspelt_names_of_topics_are_understood(retriever):
    assert found(retriever, "wiht statment") == found(retriever, "with statement")
    assert found(retriever, "exeption handling") == found(retriever, "exception handling")


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("__getattribute__", "attribute-access"),
        ("__aenter__", "async"),
        ("post_mortem", "debugger"),
    ],
)
def test_keywords_find_the_document_that_has_them(question, document):
    assert document in found(retrievers.BM25Retriever(), question)


@pytest.mark.parametrize("name", ["with", "while", "global", "nonlocal", "assert", "del"])
def test_a_keyword_of_the_language_finds_its_statement(name):
    """Some of these words are too common to look for anywhere else."""
    assert found(retrievers.NaiveRetriever(), f"What is the {name} statement?")[0] == name


@every_retriever
def test_a_keyword_is_asked_for_as_such(retriever):
    """The statement and its functions come before the operators that yield results."""
    assert found(retriever, "yield")[:2] == ["yield", "types"]


def test_opening_a_file_has_nothing_to_do_with_filling():
    question = "How do I open a file and make sure it is closed?"
    assert "zfill" not in answer(retrievers.EnsembleRetriever(), question)["answer"]


def test_meaning_finds_passages_without_a_word_of_the_question():
    index, terms = current_index(), words("What is a lambda?")
    places = retrievers.SemanticRetriever().rank(index, terms)[:30]
    texts = [words(index.passages[place].text) for place in places]
    assert any(not set(terms) & set(text) for text in texts)


def test_compression_keeps_only_sentences_with_a_word_of_the_question():
    question = "What is a metaclass?"
    index, terms = current_index(), set(words(question))
    full = retrievers.NaiveRetriever().retrieve(index, question)
    short = retrievers.ContextualCompressionRetriever().retrieve(index, question)
    kept = [sentence for context in short for sentence in context.sentences]
    assert kept
    assert all(terms & sentence.words for sentence in kept)
    assert any(not terms & sentence.words for context in full for sentence in context.sentences)


def test_the_variants_of_a_question_begin_with_it_and_differ():
    index, terms = current_index(), words("How do I define a class with a base class?")
    first, *others = retrievers.variants(index, terms)
    assert first == terms
    assert len(others) == 2
    assert set(others[0]) < set(terms) < set(others[1])


def test_fusion_prefers_what_several_rankings_have_first():
    assert retrievers.fused([[1, 2, 3], [2, 4, 1], [2, 1]])[:2] == [2, 1]


def test_the_ensemble_finds_what_its_retrievers_agree_on():
    question = "What does the with statement do?"
    first = {found(retriever, question)[0] for retriever in retrievers.EnsembleRetriever.retrievers}
    assert found(retrievers.EnsembleRetriever(), question)[0] in first


def seconds(question: str) -> float:
    """How long an answer of all retrievers together takes."""
    started = time.perf_counter()
    answer(retrievers.EnsembleRetriever(), question)
    return time.perf_counter() - started


def test_a_stored_answer_is_faster_than_a_fresh_one():
    current_index()
    fresh = statistics.median(seconds(question) for question in QUESTIONS)
    stored = statistics.median(seconds(question) for question in QUESTIONS)
    assert stored < fresh / 2
