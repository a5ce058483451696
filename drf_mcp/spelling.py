"""Which name was meant by another: the likeliest of several."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import reduce

from django.utils.translation import gettext as _

# A name can be as long as a message, and comparing long texts is slow.
LONGEST = 64
SHORTEST, ALIKE, VERY_ALIKE = 3, 0.6, 0.85
# How much more what means the same counts than what is spelled alike.
SAME = 4
# The usual other names of paging, which no likeness of words may suggest.
PAGING = (
    "page pagenumber pageno",
    "pagesize perpage limit maxresults maxrows",
    "offset skip",
    "cursor pagetoken nextpagetoken nextcursor",
)
# Names of arguments that mean the same, in small letters and without underscores.
MEANINGS = (
    *PAGING,
    "pagesize perpage limit rows count size top first take",
    "search q query s text term keyword keywords find searchterm searchquery",
    "ordering sort sortby orderby order sortorder sorting",
    "fields select columns only attributes",
    "id pk key",
    "status state",
    "name title label fullname subject",
    "name title label search q",
    "email mail emailaddress",
    "quantity qty amount count number",
    "after since from start begin",
    "before until to end",
    "date day time timestamp created createdat",
)
KNOWN = {name for group in MEANINGS for name in group.split()}
PAGES = {name for group in PAGING for name in group.split()}
# Words inside names that mean the same, as in the filters of a range.
WORDS = {
    word: group.split()[0]
    for group in (
        "after gte gt since from start begin starts min minimum",
        "before lte lt until to end till ends max maximum",
        "id pk key",
        "status state",
    )
    for word in group.split()
}
# Words that say nothing of their own.
EMPTY = frozenset({"at", "on", "by", "the", "is", "of", "date", "time", "exact", "icontains"})


def find_nearest(name: str, names: Iterable[str], most: int = 1) -> list[str]:
    """Return the names that another was probably meant to be, the likeliest first.

    What means the same comes first, then what begins alike, then what is spelled alike.
    """
    asked = Spelling(name[:LONGEST])
    ranked = [(asked.compare(Spelling(other)), other) for other in names]
    found = sorted((pair for pair in ranked if pair[0]), key=lambda pair: -pair[0])
    return [other for _rank, other in found[:most]]


def find_same(name: str, names: Iterable[str]) -> str:
    """Return the one of some names that means the same as another, "" for none."""
    asked = Spelling(name[:LONGEST])
    return next((other for other in names if asked.compare(Spelling(other)) > SAME), "")


def ask_nearest(names: Sequence[str]) -> str:
    """Return the question whether one of some names was meant, "" for none."""
    return _("Did you mean %(names)s?") % {"names": join_alternatives(names)} if names else ""


def join_alternatives(names: Iterable[str]) -> str:
    """Return names as people write them, ``a or b``; "" for none."""

    def join(first: str, last: str) -> str:
        return _("%(first)s or %(last)s") % {"first": first, "last": last}

    return reduce(join, [*names] or [""])


class Spelling:
    # A name, as it is compared with others.

    def __init__(self, name: str) -> None:
        spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
        parts = re.findall(r"[^\W_]+", spaced.casefold())
        self.name = name.casefold()
        self.joined = "".join(parts)
        self.words = {WORDS.get(part, part) for part in parts} - EMPTY

    def compare(self, other: Spelling) -> float:
        """Return how likely it is that the other name was meant, 0 for not at all."""
        likeness = self.get_likeness(other)
        if self.joined and self.joined == other.joined:
            return SAME + 1 + likeness
        for index, group in enumerate(MEANINGS):
            if {self.joined, other.joined} <= {*group.split()}:
                return SAME + 1 / (index + 1)
        # What has a meaning is no misspelling of another word.
        likeness = 0 if self.joined in KNOWN else likeness
        if other.joined not in PAGES and self.words and other.words:
            if self.words == other.words:
                return 3 + likeness
            if likeness >= VERY_ALIKE or self.begins_like(other):
                return 2 + likeness
            if self.words < other.words or self.words > other.words:
                return 1 + likeness
        return likeness

    def get_likeness(self, other: Spelling) -> float:
        matcher = SequenceMatcher(None, other.name, self.name)
        bounds = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)
        return matcher.ratio() if all(bound() >= ALIKE for bound in bounds) else 0

    def begins_like(self, other: Spelling) -> bool:
        shorter, longer = sorted((self.joined, other.joined), key=len)
        return len(shorter) >= SHORTEST and longer.startswith(shorter)
