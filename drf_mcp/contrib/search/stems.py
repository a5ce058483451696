"""Words without their endings, in English and German."""

from __future__ import annotations

from collections.abc import Sequence

INFLECTIONS = ("ings", "ing", "ied", "ies", "ed", "es", "s")
DERIVATIONS = (
    *("ations", "ation", "ments", "ment", "ability", "ities", "ity", "ance", "ions", "ion"),
    *("able", "ers", "er", "or", "ly", "ic", "y", "ive"),
)
GERMAN = ("ungen", "ung", "innen", "in", "en", "ern", "er", "em", "es", "e", "n", "s", "te", "st")
# Verbs and nouns that change in the middle, and one that is a noun of its own.
IRREGULAR = {
    "bookings": "booking",
    "booking": "booking",
}
IRREGULAR |= {
    word: group.split()[0]
    for group in (
        "pay paid payment payments",
        "buy bought",
        "sell sold",
        "send sent",
        "give gave given",
        "take took taken",
        "go went gone",
        "come came",
        "break broke broken",
        "keep kept",
        "write wrote written",
        "find found",
        "hold held",
        "make made",
        "lend lent",
        "bring brought",
        "lose lost",
        "person people",
        "child children",
        "man men",
        "woman women",
        "shelf shelves",
        "prescribe prescription",
        "deliver delivery",
        "subscribe subscription",
        "describe description",
        "receive reception",
        "choose chose chosen",
    )
    for word in group.split()
}


def strip_english(word: str) -> str:
    """Return a word without its endings: "orders" and "ordered" are one word."""
    if word in IRREGULAR:
        return IRREGULAR[word].removesuffix("e") if len(word) > 3 else IRREGULAR[word]
    stem = strip_ending(word, INFLECTIONS, 3)
    if stem != word and len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "s":
        stem = stem[:-1]
    stem = IRREGULAR.get(stem, stem)
    stem = strip_ending(stem, DERIVATIONS, 4)
    return stem.removesuffix("e") if len(stem) > 3 else stem


def strip_german(word: str) -> str:
    return strip_ending(word.replace("ß", "ss"), GERMAN, 4)


def strip_ending(word: str, endings: Sequence[str], least: int) -> str:
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            return word.removesuffix(ending)
    return word


# The languages of the package's own catalogs; others as English, whose names code has.
STEMS = {"de": strip_german}
