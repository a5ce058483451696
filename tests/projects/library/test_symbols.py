"""Symbols, keywords and tables of the language in questions and documents."""

from __future__ import annotations

from example_project.library.plain_text import plain
from example_project.library.words import words

QUESTIONS = [
    ("What does := do?", "the :="),
    ("What is the walrus operator?", "the :="),
    ("What does * mean in a call?", "the *"),
    ("What does *args mean?", "the *"),
    ("What does **kwargs mean?", "the **"),
    ("What is the @ above a function?", "the @"),
    ("What does `->` mean?", "the ->"),
    ("What does // do?", "the //"),
    ("What does ... mean?", "the ..."),
    ("What is yield from for?", "the yield from"),
    ("What does async for do?", "the async for"),
    ("What is the difference between is and ==?", "the is"),
    ("What is the difference between is and ==?", "the =="),
    ('The letter "r" in front of a string', "the r"),
]


def test_symbols_and_keywords_are_tokens():
    assert [question for question in QUESTIONS if question[1] not in words(question[0])] == []


def test_hyphens_grammar_and_sums_are_no_tokens():
    texts = ["Well-known names - and others", "3.9 + 4", "read/write", "so on...", "[a | b]"]
    tokens = [word for text in texts for word in words(text) if word.startswith("the ")]
    assert tokens == []


TABLE = """\
+----------+--------------------+
| Operator | Description        |
|==========|====================|
| ":="     | Assignment         |
|          | expression         |
+----------+--------------------+
| "lambda" | Lambda expression  |
+----------+--------------------+
"""


def test_the_rows_of_a_table_are_sentences():
    assert plain(TABLE).strip().split("\n\n") == [
        'Operator ":=": Assignment expression.',
        'Operator "lambda": Lambda expression.',
    ]


def test_a_sentence_keeps_the_code_in_it():
    text = "The yield statements\n\n   yield <expr>\n   yield from <expr>\n\nare equivalent."
    assert " ".join(plain(text).split()) == (
        'The yield statements "yield <expr>", "yield from <expr>" are equivalent.'
    )


def test_methods_that_are_explained_together_are_named_together():
    text = "object.__add__(self, other)\nobject.__sub__(self, other)\n\n   These add and subtract."
    assert " ".join(plain(text).split()) == "__add__(), __sub__(): These add and subtract."
