"""The sentences that say what to do about an error, by problem, error code and HTTP status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_mcp.codes import HANDLING, Advice, Category

# Each is translated where it is used. The message names the argument.
CORRECT = "Correct it."
PROBLEM_REMEDIES = {
    "required": "Provide it.",
    "null": "Send a value other than null.",
    "blank": "Send a non-empty text.",
    "empty": "Do not send it empty.",
    "invalid_choice": "Use an accepted value.",
    "not_shown": "Use one of the values that the message names.",
    "max_length": "Shorten it.",
    "min_length": "Lengthen it.",
    "max_value": "Use a smaller value.",
    "min_value": "Use a larger value.",
    "max_digits": "Use fewer digits.",
    "max_whole_digits": "Use fewer digits before the decimal point.",
    "max_decimal_places": "Use fewer decimal places.",
    "max_string_length": "Use fewer digits.",
    "invalid_image": "Send an image.",
    "invalid_extension": "Send a file of an accepted type.",
    "unique": "Use another value; this one is taken.",
    "does_not_exist": "Use one that exists.",
    "incorrect_type": "Send an identifier of the accepted type.",
    "not_a_list": "Send a JSON array.",
    "not_a_dict": "Send a JSON object.",
}
# Codes of values that are certainly not of an accepted format. A value that is "invalid" may have
# the right format: a view uses the code for any reason.
FORMAT_CODES = frozenset(
    {"required", "null", "invalid_choice", "incorrect_type", "not_a_list", "not_a_dict"}
)
# Where not one argument is wrong, but several together, or the state of an object.
ANOTHER = HANDLING[Category.VALIDATION].advice
WHOLE_REMEDIES = {
    "required": "Provide the arguments.",
    "null": "Provide the arguments.",
    "unique": "Use another combination of values; this one is taken.",
}

FILE_REMEDIES = {
    "max_length": "Shorten the file name.",
    "empty": "Send a file that is not empty.",
}
SEND = "Send %(accepted)s."
OPTIONAL_NULL = "Send a value other than null, or leave it out."

CODE_REMEDIES = {
    "INVALID_FORMAT": "Correct the format of the arguments and call again.",
    "METHOD_NOT_ALLOWED": "This operation does not exist here; use another tool.",
    "CONFLICT": "Read the object's current state, then decide whether the call still makes sense.",
    "DUPLICATE_ENTRY": "The object exists already; use it, or choose other values.",
    "TIME_LIMIT_EXCEEDED": (
        "Look whether a part of it was done, then ask for less at once: a smaller page, narrower"
        " filters, fewer items."
    ),
}


NOT_SENT = Advice(
    (
        "Do not repeat the call: the API asks for a header or a protocol that this tool does not"
        " send. Report it."
    ),
    recoverable=False,
)
# After a call that may have changed something.
LOOK_FIRST = "Look whether the change was made before deciding whether to call again."
UNKNOWN_EFFECT = Advice("Find out whether the call took effect; if it did not, try again later.")
# By the HTTP status, where neither a problem nor the error code has a sentence.
STATUS_ADVICE: Mapping[int, Advice] = {
    **dict.fromkeys((411, 417, 421, 426, 428, 431, 505, 511), NOT_SENT),
    **dict.fromkeys((408, 502, 504), UNKNOWN_EFFECT),
    402: Advice("Do not repeat the call: it needs a payment, or another plan.", False),
    405: Advice(CODE_REMEDIES["METHOD_NOT_ALLOWED"]),
    406: Advice(
        "Do not repeat the call: the API cannot answer in a form that tools read. Report it.",
        False,
    ),
    410: Advice("It is gone for good: do not ask for it again.", False),
    412: Advice(
        "Read the object again: it has changed since it was read. Then call with its new version."
    ),
    413: Advice("Send less: shorter texts, smaller files or fewer items."),
    414: Advice("Send shorter values: they have no room in a URL."),
    415: Advice(
        "Where an argument is a file, send one of a type that is accepted. Otherwise do not"
        " repeat the call: the API does not take what this tool sends."
    ),
    416: Advice("Ask for a part that exists."),
    423: Advice("Wait until the object is no longer locked, then call again."),
    424: Advice("Mend what failed before, then call again."),
    425: Advice("Wait, then call again."),
    451: Advice("Do not repeat the call: the answer is withheld for legal reasons.", False),
    501: Advice("Do not repeat the call: the API does not offer this. Use another tool.", False),
}
# Statuses below 500 for which the advice of the category or the code is used.
BY_CATEGORY = frozenset({400, 401, 403, 404, 405, 409, 422, 429})
UNKNOWN_STATUS = Advice("Do what the message asks for before calling again.")
UNWRITABLE = Advice(
    (
        "Do not repeat the call: it may have taken effect, and its answer cannot be written. Report"
        " the request id."
    ),
    recoverable=False,
)
UNWRITABLE_TRIAL = Advice(
    (
        "Do not repeat the dry run: its answer cannot be written, nor would the answer of the call"
        " be. Report the request id."
    ),
    recoverable=False,
)


def describe_wait(seconds: Any) -> str:
    # A view's own context may have anything in its place.
    return f"Wait {seconds} second{'' if seconds == 1 else 's'}"


def get_status_advice(status: int) -> Advice | None:
    known = STATUS_ADVICE.get(status)
    if known is None and 400 <= status < 500 and status not in BY_CATEGORY:
        return UNKNOWN_STATUS
    return known
