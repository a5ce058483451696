"""The words of questions: their stems, their spelling, and their share in the library."""

from __future__ import annotations

from example_project.library.indexes import current_index
from example_project.library.questions import read_question, terms_of
from example_project.library.words import stem, words

FORMS = [
    ("generate", "generated", "generator", "generators", "generation"),
    ("define", "defined", "definition", "definitions"),
    ("evaluate", "evaluates", "evaluating", "evaluation"),
    ("iterate", "iterator", "iterators", "iteration"),
    ("run", "running"),
    ("class", "classes"),
    ("call", "calls", "called", "calling"),
    ("file", "files"),
    ("fill", "fills", "filled", "filling"),
]


def test_the_forms_of_a_word_have_one_stem_and_different_words_do_not():
    stems = [{stem(word) for word in forms} for forms in FORMS]
    assert [found for found in stems if len(found) > 1] == []
    for one, other in (("file", "filled"), ("pass", "paste"), ("int", "into")):
        assert stem(one) != stem(other)


def test_a_name_in_code_is_its_own_stem():
    names = ["__init__", "__slots__", "__getattr__", "with"]
    assert [stem(name) for name in names] == names


def test_a_misspelt_word_of_a_title_is_corrected():
    corrections = {
        "statment": "statement",
        "expresions": "expressions",
        "funtion": "function",
        "EXEPTIONS": "exceptions",
        "the wiht statement": "the with statement",
    }
    index = current_index()
    read = {misspelt: terms_of(index, misspelt) for misspelt in corrections}
    assert read == {misspelt: terms_of(index, right) for misspelt, right in corrections.items()}


def test_a_word_unlike_any_title_does_not_change():
    others = ["weather", "paris", "pandas", "cake", "zip", "xxxxxxxxxxxxxxxxxxxxxxxxxxx"]
    assert [terms_of(current_index(), word) for word in others] == [words(word) for word in others]


def test_a_keyword_in_a_question_is_a_term():
    assert "the yield" in terms_of(current_index(), "What does yield do?")


def test_a_word_that_the_library_lacks_is_noted():
    index = current_index()
    assert read_question(index, "How does my frobnicator use a lambda?").has_unknown
    assert not read_question(index, "What is a lambda?").has_unknown


def test_what_people_say_is_read_as_the_reference_calls_it():
    index, question = current_index(), "How do I put a line break into text?"
    assert "literal" not in read_question(index, question).weights
    assert "literal" in read_question(index, question, expanded=True).weights
