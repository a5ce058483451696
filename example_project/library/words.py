"""From text to the words that searches compare."""

from __future__ import annotations

import keyword
import re

WORD = re.compile(r"[^\W\d]\w+")
# A keyword that is spoken of: "with", or the word before "statement".
MENTION = re.compile(
    r"[\"'`“](\w+)[\"'`”]|\b(\w+)(?=\s+(?:statement|clause|loop|expression|block|keyword)s?\b)"
)
KEYWORDS = frozenset(keyword.kwlist)
COMMON_WORDS = """
about an and any are as at be been between but by can could did difference do does explain for
from good had happen happens has have how if in into is it its may me mean means my of on one or
our out python should so some such tell than that the their them then there these they this those
to us use used using versus vs was we were what when where which while who why will with work works
would you your
"""
STOP_WORDS = frozenset(COMMON_WORDS.split())
# What is cut from the fourth letter on: define, defined and definition are one word.
ENDING = re.compile(
    r"(?<=\w{3})(?:itions?|at(?:ions?|ors?|ing|ed|es?)|ions?|ings?|ers?|ed|es?|(?<!s)s)$"
)
# The last letter of "runn" is one too many, that of "fill" is not.
DOUBLED = re.compile(r"(?<=\w\w)(?:([^\Wls_])\1|(?<=\w{3})([ls])\2)$")


def words(text: str) -> list[str]:
    """The words of a text in their order, endings cut, without those that say nothing.

    ``with`` says nothing, but the ``"with" statement`` does: a keyword that is spoken of
    counts as a word of its own.
    """
    plain = [stem(word) for word in WORD.findall(text.lower()) if word not in STOP_WORDS]
    mentioned = (quoted or named for quoted, named in MENTION.findall(text))
    return plain + [f"the {word}" for word in mentioned if word in KEYWORDS]


def stem(word: str) -> str:
    """A word without its ending; names such as ``__init__`` have none."""
    return DOUBLED.sub(r"\1\2", ENDING.sub("", word))
