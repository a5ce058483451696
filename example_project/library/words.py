"""From text to the words that searches compare."""

from __future__ import annotations

import keyword
import re

WORD = re.compile(r"[a-z_][a-z0-9_]+")
# A keyword that is spoken of: "with", or the word before "statement".
MENTION = re.compile(
    r"[\"'`“](\w+)[\"'`”]|\b(\w+)(?=\s+(?:statement|clause|loop|expression|block|keyword)s?\b)"
)
KEYWORDS = frozenset(keyword.kwlist)
COMMON_WORDS = """
about an and any are as at be been but by can could did do does explain for from had has
have how if in into is it its may me mean means my of on one or our out python should so
some such tell than that the their them then there these they this those to us use used
using was we were what when where which while who why will with work works would you your
"""
STOP_WORDS = frozenset(COMMON_WORDS.split())
# The longest that fits is cut: define, defined and definition are one word.
ENDINGS = (
    *("itions", "ations", "ators", "ition", "ation", "ator", "ions", "ings", "ion", "ing"),
    *("ers", "er", "ed", "es", "e", "s"),
)
STEM_LENGTH = 3


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
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= STEM_LENGTH:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > STEM_LENGTH and word[-1] == word[-2] != "_" else word
