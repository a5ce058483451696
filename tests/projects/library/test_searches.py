"""The two searches of the retrievers: by keywords and by vectors."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_project.library.keyword_search import KeywordSearch
from example_project.library.term_vectors import TermVectors
from example_project.library.words import words

TEXTS = [
    ["lamp", "desk", "light"],
    ["lamp", "light", "bulb"],
    ["bulb", "glass", "glass", "glass"],
    ["chair", "wood", "desk"],
    ["__slots__", "the with"],
]
WORDS = sorted({word for text in TEXTS for word in text})


def test_a_keyword_finds_exactly_the_texts_that_have_it():
    search = KeywordSearch(TEXTS)
    found = {word: [score > 0 for score in search.scores([word])] for word in WORDS}
    assert found == {word: [word in text for text in TEXTS] for word in WORDS}


def test_a_rare_keyword_has_a_higher_score_than_a_common_one():
    scores = KeywordSearch(TEXTS).scores(["lamp", "chair"])
    assert scores.index(max(scores)) == 3


def test_a_keyword_that_occurs_more_often_has_a_higher_score():
    scores = KeywordSearch(TEXTS).scores(["glass", "bulb"])
    assert scores.index(max(scores)) == 2


def test_a_part_of_a_name_finds_nothing():
    assert max(KeywordSearch(TEXTS).scores(["slots", "with", "the"])) == 0


def test_no_keyword_finds_nothing():
    assert KeywordSearch(TEXTS).scores([]) == [0.0] * len(TEXTS)


@given(st.lists(st.text(max_size=40), max_size=5))
def test_words_of_a_question_are_no_operators_of_the_search(texts):
    """AND, NEAR, quotation marks and asterisks find the texts that have them."""
    found = [words(text) for text in [*texts, "NEAR AND OR NOT lamp"]]
    search = KeywordSearch(found)
    for text in found:
        for word in text:
            assert [score > 0 for score in search.scores([word])] == [word in t for t in found]


def test_threads_may_search_at_once():
    search = KeywordSearch(TEXTS)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: tuple(search.scores(["lamp", "desk"])), range(200)))
    assert len(set(found)) == 1


def test_a_text_is_most_similar_to_itself():
    vectors = TermVectors(TEXTS)
    for place, vector in enumerate(vectors.vectors):
        scores = vectors.similarities(vector)
        assert scores[place] == pytest.approx(1)
        assert max(scores) <= 1 + 1e-9
        assert vectors.related(vector)[place] == pytest.approx(1)


def test_vectors_have_length_one_and_rare_words_weigh_more():
    vector = TermVectors(TEXTS).vectors[0]
    assert math.hypot(*vector.values()) == pytest.approx(1)
    assert vector["desk"] == vector["lamp"]
    assert TermVectors(TEXTS).weights["chair"] > TermVectors(TEXTS).weights["lamp"]


def test_unknown_words_are_similar_and_related_to_nothing():
    vectors = TermVectors(TEXTS)
    nothing = vectors.vector(["frobnicator"])
    assert nothing == {}
    assert max(vectors.similarities(nothing)) == max(vectors.related(nothing)) == 0


def test_texts_without_a_shared_word_are_related_by_other_texts():
    vectors = TermVectors(TEXTS)
    desk = vectors.vector(["desk"])
    similar, related = vectors.similarities(desk), vectors.related(desk)
    assert similar[1] == 0
    assert related[1] > related[4] == 0
