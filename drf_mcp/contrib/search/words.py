"""The words of questions and of tools: stems, phrases, synonyms, and what a question asks for."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from drf_mcp.archive.slices import split_unspaced

WORDS = re.compile(r"[^\W_]+")
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
APOSTROPHES = re.compile(r"(?<=\w)['\u2019](?:s|re|ve|ll|d|m)?\b")
CLAUSES = re.compile(r"[,;:.!?]+(?=\s|$)")
READ = "read"
# What a question without a verb asks for, not quite surely.
GUESS = {READ: 0.5}
# What a synonym counts of the word itself; how many words a phrase may have between its own.
SYNONYM, MOST_BETWEEN = 0.75, 3


def make_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# What a verb asks for, by the actions of viewsets; "read" for each that only reads.
ASKING: Mapping[str, str] = {
    "read": (
        "what which who whose whom when where how why is are do does did has have was were can "
        "show list find look_up get see read tell search give_me display view check compare count "
        "was welche welcher welches wer wem wen wann wo wie warum ist sind hat haben zeige zeigen "
        "liste suche suchen finde finden lies lesen zähle gib_mir"
    ),
    "create": (
        "add create new make register enter record log note write set_up put place issue sign_up "
        "open order book buy request ask prescribe charge hire lend attach submit post answer "
        "reply start begin save keep remember jot store upload scan "
        "anlegen erstelle erstellen hinzufügen neu neue neuer neues füge lege buche bestelle "
        "eintragen schreibe"
    ),
    "partial_update": (
        "change edit update correct rename set mark raise lower increase decrease adjust replace "
        "switch move postpone fix modify extend different better "
        "ändere ändern bearbeite bearbeiten korrigiere setze aktualisiere verschiebe"
    ),
    "destroy": (
        "delete remove destroy drop erase discard clear throw_away get_rid throw_out take_out "
        "cancel call_off withdraw revoke take_back lösche löschen entferne entfernen wegwerfen"
    ),
}
# Words that say nothing about a tool; some of them ask for something all the same.
STOP_WORDS = make_set(
    "a about an and any anything are as at be by can could did do does everything for from get "
    "has have he her here him his how i if in into is it its just me mr mrs ms must my need no "
    "not of on onto or our out over please s she should so some somebody someone t tell than "
    "that the their them then there these they this to too up us want was we were what when "
    "where which who whom whose why will with would you your already also another else more "
    "other still yet cant couldnt doesnt didnt dont isnt wont das dem den der des die ein eine "
    "einem einen einer für ich im in ist mit nicht oder sich sie sind und uns unser von wir zu "
    "zum zur"
)
# Those that are about a field.
NAMED_BY_VERBS = make_set("when where wann wo")
# Verbs that say what is asked for, and nothing else.
PLAIN_VERBS = make_set(
    "add change create delete display edit find list make new register remove search see show "
    "update view ändere bearbeite entferne erstelle finde lösche suche zeige"
)
AGAIN = make_set("afresh again anew once")
BEFORE_VERBS = make_set("and bitte can could please to und us you")
# What follows a verb: one of them among the first words makes a command of them.
DETERMINERS = make_set(
    "a all an back both down every everything he her him his i in it my off on out our over she "
    "someone the their them these they this those two up us we your alle das dem den der die "
    "ein eine einen es ihm ihr sie"
)
# What a statement begins with, a noun with a verb after it; what makes it a wish or a
# correction.
PRONOUNS = make_set("er he i ich it she sie someone they we wir")
SUBJECTS = PRONOUNS | make_set("her his mr mrs my our that the their this")
FINITE = make_set("are had has hat have is ist sind war was were")
WISHES = make_set("brauche like möchte need want will would")
CORRECTIONS = make_set(
    "but changed instead longer mistake mistyped moved new no not now typo wrong falsch jetzt "
    "nicht neu neue neuen neuer neues sondern statt"
)

# --- Words without their endings, in English and German --------------------------------------

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
    stem = IRREGULAR.get(word, word)
    if word not in IRREGULAR and not word.endswith(UNINFLECTED):
        stem = strip_ending(word, INFLECTIONS, 3)
        if stem != word and word.endswith(("ies", "ied")):
            stem = f"{stem}y"
        elif stem != word and len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "elsz":
            stem = stem[:-1]
    stem = strip_ending(strip_e(IRREGULAR.get(stem, stem)), DERIVATIONS, 4)
    # "cancelled" and "canceled"
    return strip_e(stem[:-1] if stem.endswith("ll") and len(stem) > 5 else stem)


def strip_e(stem: str) -> str:
    return stem[:3] + stem[3:].rstrip("e")


def strip_german(word: str) -> str:
    return strip_ending(word.replace("ß", "ss"), GERMAN, 4)


def strip_ending(word: str, endings: Sequence[str], least: int) -> str:
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            return word.removesuffix(ending)
    return word


# --- Questions ------------------------------------------------------------------------------


@dataclass(frozen=True)
class SearchQuestion:
    """What a question says.

    Attributes:
        words: for each word or phrase that says something, its stems with what each counts.
        asks: what is asked for, of the keys of `ASKING`, and how surely.
    """

    words: Sequence[Mapping[str, float]]
    asks: Mapping[str, float]


class SearchLanguage:
    """The words of a language.

    Args:
        code: of the language; English words are known in each.

    Attributes:
        synonyms: the stems that mean nearly the same, by stem or by the stems of a phrase.
        asking: what a word, or the stems of a phrase, ask for.
        phrases: all phrases, by the first stem.
    """

    def __init__(self, code: str) -> None:
        self.code = code
        # Other languages as English, whose names code has.
        self.strip = strip_german if code == "de" else strip_english
        self.synonyms: dict[str, set[str]] = defaultdict(set)
        self.asking: dict[str, set[str]] = defaultdict(set)
        self.phrases: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        for each in dict.fromkeys(("en", code)):
            for line in read_synonyms(each):
                said, _, wanted = line.partition(" > ")
                stems = [self.read_phrase(text) for text in said.split()]
                others = [self.read_phrase(text) for text in wanted.split()] or stems
                for stem in stems:
                    self.synonyms[stem].update(others)
        for action, verbs in ASKING.items():
            for text in verbs.split():
                phrase = self.read_phrase(text)
                self.asking[phrase if "_" in text else text].add(action)

    def read_phrase(self, text: str) -> str:
        stems = tuple(map(self.strip, text.split("_")))
        if len(stems) > 1 and stems not in self.phrases[stems[0]]:
            self.phrases[stems[0]].append(stems)
        return " ".join(stems)

    def split(self, text: str) -> list[str]:
        """Return the stems of the words that say something, and of the phrases."""
        words = split_raw(text)
        stems = [self.strip(word) for word in words]
        said = [s for s, word in zip(stems, words, strict=True) if word not in STOP_WORDS]
        phrases = (self.find_phrase(stems, place, between=0) for place in range(len(stems)))
        return said + [" ".join(stems[place] for place in phrase) for phrase in phrases if phrase]

    def read(self, text: str) -> SearchQuestion:
        asks: dict[str, float] = {READ: 1.0} if "?" in text else {}
        found: list[Mapping[str, float]] = []
        for clause in CLAUSES.split(APOSTROPHES.sub("", text)):
            words = split_raw(clause)
            stems = [self.strip(word) for word in words]
            taken: set[int] = set()
            # "send it again" is "resend".
            repeats = not AGAIN.isdisjoint(words)
            for place, word in enumerate(words):
                phrase = self.find_phrase(stems, place, taken)
                taken |= set(phrase)
                unit = " ".join(stems[each] for each in phrase) if phrase else stems[place]
                # Elsewhere a verb may as well be a noun: "an order", "the request".
                is_verb = place == 0 or words[place - 1] in BEFORE_VERBS
                if is_verb:
                    asks |= dict.fromkeys(self.asking.get(unit if phrase else word, ()), 1.0)
                says_nothing = word in STOP_WORDS - NAMED_BY_VERBS or place in taken
                if not phrase and (says_nothing or (is_verb and word in PLAIN_VERBS)):
                    continue
                parts = [stems[n] for n in phrase if words[n] not in STOP_WORDS]
                near = [*self.synonyms.get(unit, ()), *parts]
                weights = {**dict.fromkeys(near, SYNONYM), unit: 1.0}
                if repeats:
                    weights |= {f"re{stem}": weight * 1.2 for stem, weight in weights.items()}
                found.append(weights)
        return SearchQuestion(found, asks or guess(split_raw(text)))

    def find_phrase(
        self,
        stems: Sequence[str],
        start: int,
        taken: Container[int] = (),
        between: int = MOST_BETWEEN,
    ) -> tuple[int, ...]:
        """Return the places of the words of the phrase that begins at a place, () for none."""
        for phrase in self.phrases.get(stems[start], ()) if start not in taken else ():
            places = [start]
            for stem in phrase[1:]:
                window = range(places[-1] + 1, min(places[-1] + 2 + between, len(stems)))
                following = next((n for n in window if stems[n] == stem and n not in taken), None)
                if following is None:
                    break
                places.append(following)
            if len(places) == len(phrase):
                return tuple(places)
        return ()


def guess(words: Sequence[str]) -> Mapping[str, float]:
    """Return what words without a verb that is known ask for.

    "She weighs 6 kilos" asks to record it, "the address is wrong" to correct it, "call the
    customer" to do something that an action may be named for, "unpaid fines" to read.
    """
    says = any(word in FINITE or word.isdigit() for word in words)
    if not (SUBJECTS if says else PRONOUNS).isdisjoint(words[:1]):
        if not WISHES.isdisjoint(words[:3]):
            return {}
        return {"create" if CORRECTIONS.isdisjoint(words) else "partial_update": 0.5}
    return GUESS if DETERMINERS.isdisjoint(words[:3]) else {}


def split_raw(text: str) -> list[str]:
    words = WORDS.findall(CAMEL.sub(" ", text).lower())
    return [part for word in words for part in split_unspaced(word)]


def read_synonyms(code: str) -> list[str]:
    kept = Path(__file__).with_name(f"synonyms_{code}.txt")
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    return [line for line in lines if not line.startswith("#")]


@lru_cache(maxsize=8)
def get_language(code: str) -> SearchLanguage:
    """Return the words of a language, such as ``de``; of its variants the same."""
    return SearchLanguage(code.partition("-")[0])


def split_words(text: str, code: str = "en") -> list[str]:
    return get_language(code).split(text)
