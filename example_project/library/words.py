"""The words, keywords and symbols of a text, which searches compare."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator

WORD = re.compile(r"[^\W\d]\w+")
KEYWORDS = frozenset(keyword.kwlist)
# A keyword that is mentioned: "with", the word before "statement", or one of two compared.
MENTION = re.compile(
    r"[\"'`“](\w+)[\"'`”]|\bbetween (\w+)(?= and\b)|\b(\w+)(?= (?:vs\.?|versus)\s)"
    r"|\b(\w+)(?=\s+(?:statement|clause|loop|expression|block|keyword|operator)s?\b)"
)
# Two keywords that have another meaning together.
PAIR = re.compile(r"\b(yield) (from)\b|\b(async) (for|with|def)\b|\"(not|is) (in|not)\"")
# An operator that is alone or has an operand beside it. The last five count only in quotation
# marks, because they are hyphens, grammar or markup elsewhere.
SYMBOL = re.compile(
    r"(?<!\d )(?:^|(?<=[\s\"'`“(\[,]))(?:\*\*=?|//=?|:=|->|<<|>>|[-+*/]=|[=!<>]=|\.{3}|[+*%@&^~])"
    r"(?=[\s\"'`”)\],;?\w{(]|$)|(?<=[\"'`“])[-/|<>](?=[\"'`”])"
)
# A letter that is mentioned, such as the prefix of a literal.
LETTER = re.compile(r"[\"'`“]([A-Za-z])[\"'`”]")
# The names that people give to symbols.
NAMES = {"decorator": "@", "floor division": "//", "integer division": "//", "walrus": ":="}
# The titles under which the documentation explains symbols and keywords.
SUBJECTS = {
    "and": "boolean operations",
    "is": "comparisons",
    "not": "boolean operations",
    "or": "boolean operations",
    **dict.fromkeys(["==", "!=", "<", ">", "<=", ">="], "comparisons"),
    **dict.fromkeys(["&", "|", "^"], "binary bitwise operations"),
    **dict.fromkeys(["+=", "-=", "*=", "/=", "**=", "//="], "augmented assignment statements"),
    "**": "power operator",
    "...": "ellipsis object",
    ":=": "operator precedence",
    "~": "unary arithmetic bitwise operations",
}
NAME = re.compile(rf"\b(?:{'|'.join(NAMES)})")
COMMON_WORDS = """
about above all an and any are args as at away bad be been before behind below best better between
but by can cannot check could did differ difference different do does doing done else example
explain few for from front get gets getting give gives good got had happen happens has have having
how idea if in inner inside instead into is it its just kwargs like lot make makes making many may
me mean meaning means more most much my need needs nothing of on one only or our out outer own
please possible properly purpose put python reason right run same several should show simple so
some something such sure tell than that the their them then there these they thing things this
those to two us use used useful uses using usual usually versus vs want wants was way ways we were
what when where whether which while who why will with without work works would wrong you your
"""
STOP_WORDS = frozenset(COMMON_WORDS.split())
# The endings that are cut after the third letter: define, defined and definition are one word.
ENDING = re.compile(
    r"(?<=\w{3})(?:itions?|at(?:ions?|ors?|ing|ed|es?)|ions?|ings?|ables?|ers?|ed|es?|(?<!s)s)$"
)
# The last letter of "runn" is one too many, that of "fill" is not.
DOUBLED = re.compile(r"(?<=\w\w)(?:([^\Wls_])\1|(?<=\w{3})([ls])\2)$")
# The stems of words that people use, with the stems that the documentation uses.
SYNONYMS = {
    "catch": "handl",
    "cycl": "iter",
    "descend": "revers",
    "dictionary": "dict",
    "jump": "continu",
    "overload": "emulat",
    "paramet": "argument",
    "skip": "continu",
    "throw": "rais",
}


def words(text: str) -> list[str]:
    """Return the stems of a text's words in their order, without the stop words.

    ``with`` is a stop word, but a keyword that is mentioned, as in the ``"with" statement``,
    counts as a word, and so do symbols, letters in quotation marks and pairs of keywords such
    as ``yield from``.
    """
    plain = [stem(word) for word in WORD.findall(text.lower()) if word not in STOP_WORDS]
    return [*plain, *(f"the {token}" for token in language_tokens(text))]


def language_tokens(text: str) -> Iterator[str]:
    """Yield the keywords, symbols and letters of Python that a text mentions."""
    flat = " ".join(text.split())
    mentioned = (word for words in MENTION.findall(flat) for word in words)
    yield from (word.lower() for word in mentioned if {word, word.lower()} & KEYWORDS)
    yield from (" ".join(filter(None, pair)) for pair in PAIR.findall(flat))
    yield from SYMBOL.findall(flat)
    yield from (NAMES[name] for name in NAME.findall(flat.lower()))
    yield from (letter.lower() for letter in LETTER.findall(flat))


def subjects_of(terms: Iterable[str]) -> list[str]:
    """Return the words of the titles that explain the symbols and keywords of a question."""
    return words(" ".join(SUBJECTS.get(term.removeprefix("the "), "") for term in terms))


def stem(word: str) -> str:
    """Return a word without its ending; names such as ``__init__`` have none."""
    plain = DOUBLED.sub(r"\1\2", ENDING.sub("", word))
    return SYNONYMS.get(plain, plain)
