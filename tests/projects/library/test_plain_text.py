"""Documents as plain text, and the sentences of them that answers may quote."""

from __future__ import annotations

from example_project.library.passages import sentences_of
from example_project.library.plain_text import plain


def flat(text: str) -> str:
    """Return a document's plain text in one line."""
    return " ".join(plain(text).split())


def quotable(text: str) -> list[str]:
    """Return the sentences that an answer may quote of a document."""
    return [sentence.text for sentence in sentences_of(plain(text))]


MARKED = [
    ("A *context manager* is an object.", "A context manager is an object."),
    ("**Programmer's note:** Be *very* kind.", "Programmer's note: Be very kind."),
    ('Sets *the "with" statement* up.', 'Sets the "with" statement up.'),
    ('The form "*args" or "**kwargs" is *not*.', 'The form "*args" or "**kwargs" is not.'),
    ("It is run. [1] It ends [2], always.", "It is run. It ends, always."),
    ('It is "divmod(x, y)". [2].', 'It is "divmod(x, y)".'),
    ("A scheme of reference-\n   counting.", "A scheme of reference-counting."),
    (
        'The “"def"” form and the ""__code__"" attribute.',
        'The "def" form and the "__code__" attribute.',
    ),
    ("Types are callable (see section Calls).", "Types are callable."),
    ("It was restrictive; see **PEP 614** for details.", "It was restrictive."),
    ("* An item of a list.", "An item of a list."),
    ("[3] The note of a foot\n    goes on.", "The note of a foot goes on."),
]
EXPLAINED = [
    ("Tuples\n   The items are objects.", "Tuples: The items are objects."),
    ("object.f(self)\n\n   Called by nobody.", "object.f(self): Called by nobody."),
    ("None\n====\n\nThis type has a value.", "None ==== None: This type has a value."),
    ("a class:\n   The class is called.", "a class: The class is called."),
]


def test_marks_are_not_part_of_the_plain_text():
    assert [flat(marked) for marked, _ in MARKED] == [text for _, text in MARKED]


def test_a_term_is_joined_with_its_explanation():
    assert [flat(explained) for explained, _ in EXPLAINED] == [text for _, text in EXPLAINED]


def test_a_list_of_further_reading_is_left_out():
    text = "Before.\n\nSee also:\n\n  **PEP 3129** - Class Decorators\n     The proposal.\n\nAfter."
    assert flat(text) == "Before. After."


def test_a_sentence_that_refers_to_the_one_before_is_quoted_with_it():
    bound = "A name is bound in a block of code. It is a local name of that block."
    words = "Names are words that a program gives to objects."
    assert quotable(f"{bound} {words}") == [bound, words]


def test_a_sentence_may_begin_with_a_name_in_code():
    """The definition of ``__slots__`` begins with the name."""
    text = "*__slots__* allow us to declare data members. *__slots__* reserves space for them."
    assert quotable(text) == [
        "__slots__ allow us to declare data members.",
        "__slots__ reserves space for them.",
    ]


def test_a_sentence_that_refers_to_nothing_is_not_quoted():
    text = "It has been bound before it was used. Names are bound by assignment."
    assert quotable(text) == ["Names are bound by assignment."]


NOT_QUOTABLE = [
    "and goes on from the paragraph before this one.",
    "See the documentation of the module for all of it.",
    "Changed in version 3.9: Functions may be decorated. Previously, they were not decorated.",
    "The rules that hold for names are given in section Names.",
    "The semantics of such a slicing are as follows.",
    "The names of the operators are these:",
    '"Count to {0}, never to {1}"  # It ends here.',
    "All of the built-in sequence types support this.",
    "while running:\n    # Stops as soon as it can.\n    step()",
]


def test_a_sentence_without_a_statement_is_not_quoted():
    assert {text: quoted for text in NOT_QUOTABLE if (quoted := quotable(text))} == {}
