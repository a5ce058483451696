"""What verbs ask for, and words that say what a sentence is: a question, a command, a statement."""

from __future__ import annotations

import re
from collections.abc import Mapping

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
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a about an and any anything are as at be by can could did do does everything for from "
        "get has have he her here him his how i if in into is it its just me mr mrs ms must my "
        "need no not of on onto or our out over please s she should so some somebody someone t "
        "tell than that the their them then there these they this to too up us want was we were "
        "what when where which who whom whose why will with would you your already also another "
        "else more other still yet cant couldnt doesnt didnt dont isnt wont das dem den der des "
        "die ein eine einem einen einer für ich im in ist mit nicht oder sich sie sind und uns "
        "unser von wir zu zum zur",
    )
)
# Those that are about a field.
NAMED_BY_VERBS = frozenset({"when", "where", "wann", "wo"})
# Verbs that say what is asked for, and nothing else.
PLAIN_VERBS = frozenset(
    re.findall(
        r"\w+",
        "add change create delete display edit find list make new register remove search see show "
        "update view ändere bearbeite entferne erstelle finde lösche suche zeige",
    )
)
AGAIN = frozenset({"again", "afresh", "anew", "once"})
BEFORE_VERBS = frozenset({"and", "bitte", "can", "could", "please", "to", "und", "us", "you"})
# What follows a verb: one of them among the first words makes a command of them.
DETERMINERS = frozenset(
    re.findall(
        r"\w+",
        "a all an back both down every everything he her him his i in it my off on out our over "
        "she someone the their them these they this those two up us we your alle das dem den der "
        "die ein eine einen es ihm ihr sie",
    )
)
# What a question is about comes before them.
PREPOSITIONS = frozenset(
    re.findall(
        r"\w+",
        "about after at because before by for from in into of on onto since that to where which "
        "who whose with without als auf aus bei bis für mit nach seit über um unter von vor wegen "
        "zu",
    )
)
# What a statement begins with, a noun with a verb after it; what makes it a wish or a correction.
PRONOUNS = frozenset({"er", "he", "i", "ich", "it", "she", "sie", "someone", "they", "we", "wir"})
SUBJECTS = PRONOUNS | {"her", "his", "mr", "mrs", "my", "our", "that", "the", "their", "this"}
FINITE = frozenset({"are", "had", "has", "hat", "have", "is", "ist", "sind", "war", "was", "were"})
WISHES = frozenset({"brauche", "like", "möchte", "need", "want", "will", "would"})
CORRECTIONS = frozenset(
    re.findall(
        r"\w+",
        "but changed instead longer mistake mistyped moved new no not now typo wrong falsch jetzt "
        "nicht neu neue neuen neuer neues sondern statt",
    )
)
