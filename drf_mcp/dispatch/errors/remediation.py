"""What a model can do about a failure: one sentence for each.

A sentence has to be right for every cause that leads to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PROBLEM_REMEDIES = {
    "required": "Provide {name}.",
    "null": "Send a value other than null for {name}.",
    "blank": "Send a non-empty text for {name}.",
    "empty": "Do not send {name} empty.",
    "invalid_choice": "Use one of the accepted values for {name}.",
    "not_shown": "Use one of the values that the message names for {name}.",
    "max_length": "Shorten {name}.",
    "min_length": "Lengthen {name}.",
    "max_value": "Use a smaller value for {name}.",
    "min_value": "Use a larger value for {name}.",
    "max_digits": "Use fewer digits for {name}.",
    "max_whole_digits": "Use fewer digits before the decimal point for {name}.",
    "max_decimal_places": "Use fewer decimal places for {name}.",
    "max_string_length": "Use fewer digits for {name}.",
    "invalid_image": "Send an image for {name}.",
    "invalid_extension": "Send a file of an accepted type for {name}.",
    "unique": "Use another value for {name}; this one is taken.",
    "does_not_exist": "Use the identifier of an existing object for {name}.",
    "incorrect_type": "Send an identifier of the accepted type for {name}.",
    "not_a_list": "Send a JSON array for {name}.",
    "not_a_dict": "Send a JSON object for {name}.",
}
# Where no argument alone is wrong.
WHOLE_REMEDIES = {
    "null": "Provide the arguments.",
    "unique": "Use another combination of values; this one is taken.",
}

FILE_REMEDIES = {
    "max_length": "Shorten the file name of {name}.",
    "empty": "Send a file that is not empty for {name}.",
}
OPTIONAL_NULL = "Send a value other than null for {name}, or leave it out."

CODE_REMEDIES = {
    "INVALID_FORMAT": "Correct the format of the arguments and call again.",
    "METHOD_NOT_ALLOWED": "This operation does not exist here; use another tool.",
    "CONFLICT": "Read the object's current state, then decide whether the call still makes sense.",
    "DUPLICATE_ENTRY": "The object exists already; use it, or choose other values.",
    "TIME_LIMIT_EXCEEDED": "Look whether a part of it was done, then ask for less at once: a"
    " smaller page, narrower filters, fewer items.",
}


@dataclass(frozen=True)
class Advice:
    """What to do about a failure.

    Attributes:
        text: one sentence.
        recoverable: False where no call can mend it; None as the category says.
    """

    text: str
    recoverable: bool | None = None


NOT_SENT = Advice(
    "Do not repeat the call: the API asks for a header or a protocol that this tool does not send."
    " Report it.",
    recoverable=False,
)
UNKNOWN_EFFECT = Advice(
    "Find out whether the call took effect; if it did not, try again later.", recoverable=True
)
# By the HTTP status, where neither the arguments nor the code say more.
STATUS_ADVICE: Mapping[int, Advice] = {
    402: Advice("Do not repeat the call: it needs a payment, or another plan.", False),
    405: Advice(CODE_REMEDIES["METHOD_NOT_ALLOWED"]),
    406: Advice(
        "Do not repeat the call: the API cannot answer in a form that tools read. Report it.", False
    ),
    408: UNKNOWN_EFFECT,
    410: Advice("It is gone for good: do not ask for it again.", False),
    411: NOT_SENT,
    412: Advice(
        "Read the object again: it has changed since it was read. Then call with its new version."
    ),
    413: Advice("Send less: shorter texts, smaller files or fewer items."),
    414: Advice("Send shorter values: they have no room in a URL."),
    415: Advice(
        "Where an argument is a file, send one of a type that is accepted. Otherwise do not repeat"
        " the call: the API does not take what this tool sends."
    ),
    416: Advice("Ask for a part that exists."),
    417: NOT_SENT,
    421: NOT_SENT,
    423: Advice("Wait until the object is no longer locked, then call again."),
    424: Advice("Mend what failed before, then call again."),
    425: Advice("Wait, then call again."),
    426: NOT_SENT,
    428: NOT_SENT,
    431: NOT_SENT,
    451: Advice("Do not repeat the call: the answer is withheld for legal reasons.", False),
    501: Advice("Do not repeat the call: the API does not offer this. Use another tool.", False),
    502: UNKNOWN_EFFECT,
    504: UNKNOWN_EFFECT,
    505: NOT_SENT,
    511: NOT_SENT,
}
# Statuses below 500 for which the advice of their category, or code, is right.
BY_CATEGORY = frozenset({400, 401, 403, 404, 405, 409, 422, 429})

UNKNOWN_STATUS = Advice("Do what the message asks for before calling again.")
UNWRITABLE = Advice(
    "Do not repeat the call: it may have taken effect, and its answer cannot be written. Report the"
    " request id.",
    recoverable=False,
)
UNWRITABLE_TRIAL = Advice(
    "Do not repeat the dry run: its answer cannot be written, nor would that of the call be. Report"
    " the request id.",
    recoverable=False,
)


def get_status_advice(status: int) -> Advice | None:
    known = STATUS_ADVICE.get(status)
    if known is None and 400 <= status < 500 and status not in BY_CATEGORY:
        return UNKNOWN_STATUS
    return known
