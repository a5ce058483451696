"""The names that are nearest to a mistyped one, and names in a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

# The most names in a sentence.
MOST_NAMES = 8
# Comparing long texts is slow.
MAX_LENGTH = 64
MIN_PREFIX, SIMILAR, VERY_SIMILAR = 3, 0.6, 0.85
# The score of a synonym; a similar spelling scores less.
SYNONYM = 4
# Names of paging arguments. These are suggested only for synonyms, not for similar spellings.
PAGING = (
    "page pagenumber pageno",
    "pagesize perpage limit maxresults maxrows",
    "offset skip",
    "cursor pagetoken nextpagetoken nextcursor",
)
# Argument names that mean the same, in lower case and without underscores.
SYNONYMS = (
    *PAGING,
    "pagesize perpage limit rows count size top first take",
    "search q query s text term keyword keywords find searchterm searchquery",
    "ordering sort sortby orderby order sortorder sorting",
    "fields select columns only attributes",
    "id pk key",
    "ids id pk key pks keys",
    "status state",
    "name title label fullname subject",
    "name title label search q",
    "email mail emailaddress",
    "quantity qty amount count number",
    "after since from start begin",
    "before until to end",
    "date day time timestamp created createdat",
)
KNOWN_NAMES = {name for group in SYNONYMS for name in group.split()}
PAGING_NAMES = {name for group in PAGING for name in group.split()}
# Parts of names that mean the same, such as the lookups of range filters.
WORD_SYNONYMS = {
    word: group.split()[0]
    for group in (
        "after gte gt since from start begin starts min minimum",
        "before lte lt until to end till ends max maximum",
        "id pk key ids pks keys",
        "status state",
    )
    for word in group.split()
}
STOP_WORDS = frozenset({"at", "on", "by", "the", "is", "of", "date", "time", "exact", "icontains"})


def find_nearest(name: str, names: Iterable[str], most: int = 1) -> list[str]:
    """Return the names that the caller of an unknown name probably wanted, the likeliest first.

    Synonyms come first, then names with the same beginning, then similar spellings.
    """
    asked = Spelling(name[:MAX_LENGTH])
    ranked = [(asked.compare(Spelling(other)), other) for other in names]
    found = sorted((pair for pair in ranked if pair[0]), key=lambda pair: -pair[0])
    return [other for _rank, other in found[:most]]


def find_synonym(name: str, names: Iterable[str]) -> str:
    """Return the first of the names that is a synonym of the name, "" for none."""
    asked = Spelling(name[:MAX_LENGTH])
    return next((other for other in names if asked.compare(Spelling(other)) > SYNONYM), "")


# Fewer letters say nothing of what was typed: `a` is no slip of `b`.
SHORTEST, LONG = 3, 8


def is_slip(name: str, other: str) -> bool:
    """Return whether a name is another one with a letter added, lost, changed or exchanged.

    Two letters in names of eight letters.
    """
    first, second = Spelling(name[:MAX_LENGTH]), Spelling(other)
    if first.joined and first.joined == second.joined:
        return True
    if min(len(name), len(other)) < SHORTEST:
        return False
    most = 2 if min(len(name), len(other)) >= LONG else 1
    return _count_edits(name, other, most) <= most


def _count_edits(first: str, second: str, most: int) -> int:
    """Return how many letters differ, counted up to one more than ``most``."""
    if abs(len(first) - len(second)) > most:
        return most + 1
    before, row = list[int](), list(range(len(second) + 1))
    for i, letter in enumerate(first, 1):
        before, last, row = row, before, [i]
        for j, other in enumerate(second, 1):
            edits = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == second[j - 2] and first[i - 2] == other:
                edits = min(edits, last[j - 2] + 1)
            row.append(edits)
    return row[-1]


def ask_nearest(names: Sequence[str]) -> str:
    """Return the sentence that suggests the names, "" for none."""
    return f"Did you mean {join_alternatives(names)}?" if names else ""


def join_alternatives(names: Iterable[str]) -> str:
    """Return names joined by "or", "" for none."""
    return " or ".join(names)


def join_names(names: Iterable[str], most: int = MOST_NAMES) -> str:
    """Return names with commas; of more than ``most`` the first ones, and how many follow."""
    shown = list(dict.fromkeys(names))
    rest = len(shown) - most
    if rest <= 1:
        return ", ".join(shown)
    return f"{', '.join(shown[:most])} and {rest} more"


class Spelling:
    def __init__(self, name: str) -> None:
        spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
        parts = re.findall(r"[^\W_]+", spaced.casefold())
        self.name = name.casefold()
        self.joined = "".join(parts)
        self.words = {WORD_SYNONYMS.get(part, part) for part in parts} - STOP_WORDS

    def compare(self, other: Spelling) -> float:
        """Return how likely the other name is a correction of this name, 0 for impossible."""
        similarity = self._get_similarity(other)
        if self.joined and self.joined == other.joined:
            return SYNONYM + 1 + similarity
        for index, group in enumerate(SYNONYMS):
            if {self.joined, other.joined} <= {*group.split()}:
                return SYNONYM + 1 / (index + 1)
        # A known argument name is no misspelling of another word.
        similarity = 0 if self.joined in KNOWN_NAMES else similarity
        if other.joined not in PAGING_NAMES and self.words and other.words:
            if self.words == other.words:
                return 3 + similarity
            shorter, longer = sorted((self.joined, other.joined), key=len)
            has_same_prefix = len(shorter) >= MIN_PREFIX and longer.startswith(shorter)
            if similarity >= VERY_SIMILAR or has_same_prefix:
                return 2 + similarity
            if self.words < other.words or self.words > other.words:
                return 1 + similarity
        return similarity

    def _get_similarity(self, other: Spelling) -> float:
        matcher = SequenceMatcher(None, other.name, self.name)
        bounds = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)
        return matcher.ratio() if all(bound() >= SIMILAR for bound in bounds) else 0
