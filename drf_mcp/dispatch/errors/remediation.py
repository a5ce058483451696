"""What a model can do about a failure: one sentence for each.

A sentence has to be right for every cause that leads to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from drf_mcp.codes import HANDLING, Category

# Each is translated where it is used.
CORRECT = _("Correct {name}.")
PROBLEM_REMEDIES = {
    "required": _("Provide {name}."),
    "null": _("Send a value other than null for {name}."),
    "blank": _("Send a non-empty text for {name}."),
    "empty": _("Do not send {name} empty."),
    "invalid_choice": _("Use one of the accepted values for {name}."),
    "not_shown": _("Use one of the values that the message names for {name}."),
    "max_length": _("Shorten {name}."),
    "min_length": _("Lengthen {name}."),
    "max_value": _("Use a smaller value for {name}."),
    "min_value": _("Use a larger value for {name}."),
    "max_digits": _("Use fewer digits for {name}."),
    "max_whole_digits": _("Use fewer digits before the decimal point for {name}."),
    "max_decimal_places": _("Use fewer decimal places for {name}."),
    "max_string_length": _("Use fewer digits for {name}."),
    "invalid_image": _("Send an image for {name}."),
    "invalid_extension": _("Send a file of an accepted type for {name}."),
    "unique": _("Use another value for {name}; this one is taken."),
    "does_not_exist": _("Use the identifier of an existing object for {name}."),
    "incorrect_type": _("Send an identifier of the accepted type for {name}."),
    "not_a_list": _("Send a JSON array for {name}."),
    "not_a_dict": _("Send a JSON object for {name}."),
}
# Where no argument alone is wrong: several may be, or the state of an object.
ANOTHER = HANDLING[Category.VALIDATION].advice
WHOLE_REMEDIES = {
    "null": _("Provide the arguments."),
    "unique": _("Use another combination of values; this one is taken."),
}

FILE_REMEDIES = {
    "max_length": _("Shorten the file name of {name}."),
    "empty": _("Send a file that is not empty for {name}."),
}
OPTIONAL_NULL = _("Send a value other than null for {name}, or leave it out.")

CODE_REMEDIES = {
    "INVALID_FORMAT": _("Correct the format of the arguments and call again."),
    "METHOD_NOT_ALLOWED": _("This operation does not exist here; use another tool."),
    "CONFLICT": _(
        "Read the object's current state, then decide whether the call still makes sense."
    ),
    "DUPLICATE_ENTRY": _("The object exists already; use it, or choose other values."),
    "TIME_LIMIT_EXCEEDED": _(
        "Look whether a part of it was done, then ask for less at once: a smaller page, narrower"
        " filters, fewer items."
    ),
}


@dataclass(frozen=True)
class Advice:
    """What to do about a failure.

    Attributes:
        english: one sentence.
        recoverable: False where no call can mend it; None as the category says.
    """

    english: str
    recoverable: bool | None = None

    @property
    def text(self) -> str:
        """The sentence in the language that is active."""
        return gettext(self.english)


NOT_SENT = Advice(
    _(
        "Do not repeat the call: the API asks for a header or a protocol that this tool does not"
        " send. Report it."
    ),
    recoverable=False,
)
UNKNOWN_EFFECT = Advice(
    _("Find out whether the call took effect; if it did not, try again later."), recoverable=True
)
# By the HTTP status, where neither the arguments nor the code say more.
STATUS_ADVICE: Mapping[int, Advice] = {
    402: Advice(_("Do not repeat the call: it needs a payment, or another plan."), False),
    405: Advice(CODE_REMEDIES["METHOD_NOT_ALLOWED"]),
    406: Advice(
        _("Do not repeat the call: the API cannot answer in a form that tools read. Report it."),
        False,
    ),
    408: UNKNOWN_EFFECT,
    410: Advice(_("It is gone for good: do not ask for it again."), False),
    411: NOT_SENT,
    412: Advice(
        _(
            "Read the object again: it has changed since it was read. Then call with its new"
            " version."
        )
    ),
    413: Advice(_("Send less: shorter texts, smaller files or fewer items.")),
    414: Advice(_("Send shorter values: they have no room in a URL.")),
    415: Advice(
        _(
            "Where an argument is a file, send one of a type that is accepted. Otherwise do not"
            " repeat the call: the API does not take what this tool sends."
        )
    ),
    416: Advice(_("Ask for a part that exists.")),
    417: NOT_SENT,
    421: NOT_SENT,
    423: Advice(_("Wait until the object is no longer locked, then call again.")),
    424: Advice(_("Mend what failed before, then call again.")),
    425: Advice(_("Wait, then call again.")),
    426: NOT_SENT,
    428: NOT_SENT,
    431: NOT_SENT,
    451: Advice(_("Do not repeat the call: the answer is withheld for legal reasons."), False),
    501: Advice(_("Do not repeat the call: the API does not offer this. Use another tool."), False),
    502: UNKNOWN_EFFECT,
    504: UNKNOWN_EFFECT,
    505: NOT_SENT,
    511: NOT_SENT,
}
# Statuses below 500 for which the advice of their category, or code, is right.
BY_CATEGORY = frozenset({400, 401, 403, 404, 405, 409, 422, 429})

UNKNOWN_STATUS = Advice(_("Do what the message asks for before calling again."))
UNWRITABLE = Advice(
    _(
        "Do not repeat the call: it may have taken effect, and its answer cannot be written. Report"
        " the request id."
    ),
    recoverable=False,
)
UNWRITABLE_TRIAL = Advice(
    _(
        "Do not repeat the dry run: its answer cannot be written, nor would that of the call be."
        " Report the request id."
    ),
    recoverable=False,
)


def get_problem_remedy(code: str, *, is_named: bool) -> str:
    if is_named:
        return PROBLEM_REMEDIES.get(code, CORRECT)
    return WHOLE_REMEDIES.get(code) or PROBLEM_REMEDIES.get(code, ANOTHER)


def get_status_advice(status: int) -> Advice | None:
    known = STATUS_ADVICE.get(status)
    if known is None and 400 <= status < 500 and status not in BY_CATEGORY:
        return UNKNOWN_STATUS
    return known
