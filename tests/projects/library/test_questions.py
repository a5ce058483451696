"""The words of questions: their stems, their spelling, and whether the library has them."""

from __future__ import annotations

import pytest

from example_project.library.indexes import current_index
from example_project.library.questions import terms_of
from example_project.library.words import stem, words


@pytest.mark.parametrize(
    "same",
    [
        ("generate", "generated", "generator", "generators", "generation"),
        ("define", "defined", "definition", "definitions"),
        ("evaluate", "evaluates", "evaluating", "evaluation"),
        ("iterate", "iterator", "iterators", "iteration"),
        ("run", "running"),
        ("class", "classes"),
        ("call", "calls", "called", "calling"),
        ("file", "files"),
        ("fill", "fills", "filled", "filling"),
    ],
)
def test_the_forms_of_a_word_have_one_stem(same):
    assert len({stem(word) for word in same}) == 1


@pytest.mark.parametrize(("one", "other"), [("file", "filled"), ("pass", "paste"), ("int", "into")])
def test_different_words_have_different_stems(one, other):
    assert stem(one) != stem(other)


@pytest.mark.parametrize("name", ["__init__", "__slots__", "__getattr__", "with"])
def test_a_name_is_its_own_stem(name):
    assert stem(name) == name


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("statment", "statement"),
        ("expresions", "expressions"),
        ("funtion", "function"),
        ("EXEPTIONS", "exceptions"),
        ("the wiht statement", "the with statement"),
    ],
)
def test_a_misspelt_word_of_a_title_is_put_right(misspelt, meant):
    assert terms_of(current_index(), misspelt) == terms_of(current_index(), meant)


@pytest.mark.parametrize(
    "word", ["weather", "paris", "pandas", "cake", "zip", "xxxxxxxxxxxxxxxxxxxxxxxxxxx"]
)
def test_a_word_unlike_any_title_stays_as_it_is(word):
    assert terms_of(current_index(), word) == words(word)


def test_a_keyword_in_a_question_is_spoken_of():
    assert "the yield" in terms_of(current_index(), "What does yield do?")


def test_a_share_counts_what_no_passage_has():
    index = current_index()
    assert index.share(["lambda"]) == 1
    assert 0 < index.share(["lambda", "frobnicat"]) < 0.5
    assert index.share(["frobnicat"]) == index.share([]) == 0
