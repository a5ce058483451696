"""The documents that the six retrievers find, and the answers made of them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

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
)

RETRIEVERS = [
    retrievers.NaiveRetriever(),
    retrievers.BM25Retriever(),
    retrievers.ContextualCompressionRetriever(),
    retrievers.MultiQueryRetriever(),
    retrievers.EnsembleRetriever(),
    retrievers.SemanticRetriever(),
]
EVERY_QUESTION = (*QUESTIONS, *HARD_QUESTIONS)


def find_faults(find_fault: Callable[..., Any], questions=EVERY_QUESTION) -> dict[tuple, Any]:
    """Return the faults that a function finds in answers, by retriever and question."""
    return {
        (type(retriever).__name__, question): faults
        for retriever in RETRIEVERS
        for question in questions
        if (faults := find_fault(retriever, question))
    }


@functools.cache
def get_answer(retriever, question: str) -> dict:
    """Return an answer, which several tests share."""
    return answer(retriever, question)


@functools.cache
def get_context(retriever, question: str) -> list:
    """Return the context of an answer, which several tests share."""
    return retriever.retrieve(current_index(), question)


def find_names(retriever, question: str) -> list[str]:
    """Return the names of the documents that a retriever finds."""
    return [context.document.name for context in get_context(retriever, question)]


def test_answers_have_the_usual_length_and_context():
    def find_fault(retriever, question):
        text, count = get_answer(retriever, question).values()
        return not (1000 <= len(text) <= 2500 and 3 <= count <= 7)

    assert find_faults(find_fault) == {}


def test_every_answer_has_the_words_of_its_subject():
    def find_fault(retriever, question):
        text = get_answer(retriever, question)["answer"].lower()
        return [term for term in QUESTIONS[question] if term.lower() not in text]

    assert find_faults(find_fault, QUESTIONS) == {}


def test_every_document_of_the_context_is_a_source_and_cited():
    def find_fault(retriever, question):
        given = get_answer(retriever, question)
        text, _, sources = given["answer"].partition("\n\nSources:\n")
        numbers = [f"[{n + 1}]" for n in range(given["context_document_count"])]
        listed = list(zip(numbers, find_names(retriever, question), strict=True))
        sources_shown = re.findall(r"^(\[\d+\]) .+ \(([-\w]+)\)$", sources, re.M)
        return sources_shown != listed or re.findall(r"\[\d+\]$", text, re.M) != numbers

    assert find_faults(find_fault) == {}


def paragraphs(given) -> list[str]:
    """Return the paragraphs of an answer without their numbers."""
    quoted = given["answer"].split("\n\n")[:-1]
    return [re.sub(r" \[\d+\]$", "", paragraph) for paragraph in quoted]


@functools.cache
def in_one_line(text: str) -> str:
    return " ".join(plain(text).split())


def is_made_of_sentences(context, paragraph: str) -> bool:
    """Return whether a paragraph consists of sentences of the document."""
    text = in_one_line(context.document.text)
    found = [s.text for s in (*context.sentences, *context.reserve) if s.text in paragraph]
    left = paragraph
    for sentence in sorted(found, key=len, reverse=True):
        left = left.replace(sentence, "")
    return found != [] and all(sentence in text for sentence in found) and left.strip() == ""


def test_every_sentence_of_an_answer_is_in_the_cited_document():
    """The plain text of the document is compared, without marks, footnotes and line ends."""

    def find_fault(retriever, question):
        quoted = paragraphs(get_answer(retriever, question))
        pairs = zip(get_context(retriever, question), quoted, strict=True)
        return [
            paragraph
            for context, paragraph in pairs
            if not is_made_of_sentences(context, paragraph)
        ]

    assert find_faults(find_fault) == {}


MARKS = {
    "emphasis": r"(?<![\w\"*(.,])\*\*?\w[^\"*]*\*",
    "a number of a footnote": r"\w \[\d+\]",
    "a broken word": r"\w- [a-z]",
    "doubled quotation marks": r"[“\"]\"\w+\"[”\"]",
    "a reference": r"\b[Ss]ee (?:section|above|below|also)\b|\bPEP \d+ - ",
}


def test_an_answer_is_plain_text():
    def find_fault(retriever, question):
        text = " ".join(paragraphs(get_answer(retriever, question)))
        return {name: left for name, mark in MARKS.items() if (left := re.findall(mark, text))}

    assert find_faults(find_fault) == {}


BEGINNING = re.compile(
    r"(?!(?:This|It|They|These|However|Otherwise)\b)"
    r"(?:[A-Z\"“\u2018]|__[a-z]|\S[^.]*(?:\.\w[^.]*)*: [A-Z\"“])"
)


def is_whole(paragraph: str) -> bool:
    return bool(BEGINNING.match(paragraph)) and paragraph.endswith((".", ".)", ".”"))


def test_the_paragraphs_of_an_answer_are_whole_sentences():
    def find_fault(retriever, question):
        found = paragraphs(get_answer(retriever, question))
        return [paragraph for paragraph in found if not is_whole(paragraph)]

    assert find_faults(find_fault) == {}


def test_the_same_question_has_the_same_answer():
    question = "How does slicing work?"
    first = [answer(retriever, question) for retriever in RETRIEVERS]
    cache.clear()
    assert [answer(retriever, question) for retriever in RETRIEVERS] == first


def test_a_question_about_another_subject_has_no_context():
    def find_fault(retriever, question):
        text, count = get_answer(retriever, question).values()
        return count or "nothing about this" not in text

    assert find_faults(find_fault, ["zzzz qqqq", "7", "?", "东京", *FOREIGN_QUESTIONS]) == {}


def test_misspelt_names_of_topics_are_corrected():
    corrections = {"wiht statment": "with statement", "exeption handling": "exception handling"}

    def find_fault(retriever, misspelt):
        return find_names(retriever, misspelt) != find_names(retriever, corrections[misspelt])

    assert find_faults(find_fault, corrections) == {}


def test_a_name_in_code_finds_the_document_that_has_it():
    having = {
        "__getattribute__": "attribute-access",
        "post_mortem": "debugger",
    }
    names = {word: find_names(retrievers.BM25Retriever(), word) for word in having}
    assert {word: name for word, name in having.items() if name not in names[word]} == {}


def test_a_keyword_of_the_language_finds_its_statement():
    """As ordinary words some of these are too common to search for."""
    names = ["with", "while", "global", "nonlocal", "assert", "del"]
    questions = [f"What is the {name} statement?" for name in names]
    assert [find_names(retrievers.NaiveRetriever(), question)[0] for question in questions] == names


def test_a_question_of_one_keyword_finds_its_statement_first():
    """The statement and its functions come before operators that yield results."""

    def find_fault(retriever, question):
        return find_names(retriever, question)[:2] != ["yield", "types"]

    assert find_faults(find_fault, ["yield"]) == {}


def test_words_with_similar_letters_are_not_confused():
    question = "How do I open a file and make sure it is closed?"
    assert "zfill" not in answer(retrievers.EnsembleRetriever(), question)["answer"]


def test_the_semantic_retriever_finds_passages_without_a_word_of_the_question():
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


def test_only_retrievers_with_variants_search_in_the_words_of_the_reference():
    question = "How do I write a block that does nothing?"
    found = {type(r).__name__: find_names(r, question)[:1] for r in RETRIEVERS}
    assert {name for name, first in found.items() if first == ["pass"]} == {
        "MultiQueryRetriever",
        "EnsembleRetriever",
    }


def test_the_first_variant_of_a_question_is_the_question():
    index, terms = current_index(), words("How do I define a class with a base class?")
    first, *others = retrievers.variants(index, terms)
    assert first == terms
    assert len(others) == 2
    assert set(others[0]) < set(terms) < set(others[1])


def test_fusion_prefers_what_several_rankings_have_first():
    assert retrievers.fused([[1, 2, 3], [2, 4, 1], [2, 1]])[:2] == [2, 1]


def test_the_ensemble_puts_a_document_first_that_one_of_its_retrievers_does():
    question = "What does the with statement do?"
    first = {
        find_names(retriever, question)[0] for retriever in retrievers.EnsembleRetriever.retrievers
    }
    assert find_names(retrievers.EnsembleRetriever(), question)[0] in first


def test_a_stored_answer_needs_no_retrieval(monkeypatch):
    retriever, question = retrievers.EnsembleRetriever(), "What is a metaclass?"
    fresh = answer(retriever, question)
    monkeypatch.setattr(retrievers.EnsembleRetriever, "retrieve", None)
    assert answer(retriever, question) == fresh
