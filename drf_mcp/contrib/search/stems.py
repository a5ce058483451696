"""Words without their endings, in English and German."""

from __future__ import annotations

from collections.abc import Sequence

INFLECTIONS = ("ings", "ing", "ied", "ies", "ed", "es", "s")
# Words that seem to have one.
UNINFLECTED = ("eed", "ss", "us", "is")
# Without an "e" at their end.
DERIVATIONS = (
    *("ation", "ment", "ability", "ity", "anc", "ion", "abl", "at", "er", "or", "al", "ly"),
    *("ic", "iv", "y"),
)
GERMAN = ("ungen", "ung", "innen", "in", "en", "ern", "er", "em", "es", "e", "n", "s", "te", "st")
# Verbs and nouns that change in the middle, and one that is a noun of its own.
FORMS = (
    "pay paid payment payments; buy bought; sell sold; send sent; give gave given; take took "
    "taken; go went gone; come came; break broke broken; keep kept; write wrote written; find "
    "found; hold held; make made; lend lent; bring brought; lose lost; person people; child "
    "children; man men; woman women; shelf shelves; prescribe prescription; deliver delivery; "
    "subscribe subscription; describe description; receive reception; choose chose chosen choice; "
    "agree agreed; begin began begun; build built; calorie calories; drive drove driven; eat ate "
    "eaten; fail failure failures; feed fed; feel felt; fly flew flown flight; get got; grow grew "
    "grown growth; know knew known knowledge; meet met; movie movies; ride rode ridden; run ran; "
    "see saw seen; sleep slept; speak spoke spoken; spend spent; steal stole stolen; teach "
    "taught; throw threw thrown; wake woke woken awake; wear wore worn; weigh weight weights; win "
    "won"
)
IRREGULAR = {word: group.split()[0] for group in FORMS.split(";") for word in group.split()}
IRREGULAR |= {"bookings": "booking", "booking": "booking"}


def strip_english(word: str) -> str:
    """Return a word without its endings: "orders" and "ordered" are one word."""
    stem = IRREGULAR.get(word, "") or strip_inflection(word)
    stem = strip_ending(strip_e(IRREGULAR.get(stem, stem)), DERIVATIONS, 4)
    # "cancelled" and "canceled"
    return strip_e(stem[:-1] if stem.endswith("ll") and len(stem) > 5 else stem)


def strip_inflection(word: str) -> str:
    if word.endswith(UNINFLECTED):
        return word
    stem = strip_ending(word, INFLECTIONS, 3)
    if word.endswith(("ies", "ied")) and stem != word:
        return f"{stem}y"
    if stem != word and len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "elsz":
        stem = stem[:-1]
    return stem


def strip_e(stem: str) -> str:
    while len(stem) > 3 and stem.endswith("e"):
        stem = stem[:-1]
    return stem


def strip_german(word: str) -> str:
    return strip_ending(word.replace("ß", "ss"), GERMAN, 4)


def strip_ending(word: str, endings: Sequence[str], least: int) -> str:
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            return word.removesuffix(ending)
    return word


# The languages of the package's own catalogs; others as English, whose names code has.
STEMS = {"de": strip_german}
