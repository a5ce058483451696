"""The codes, categories, severities and remediations of failures and warnings."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class Category(enum.StrEnum):
    """The category of a failure, which decides what the caller can do about it."""

    VALIDATION = "validation"
    AUTHENTICATION = "authentication"
    AUTHORIZATION = "authorization"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    RATE_LIMIT = "rate_limit"
    FEATURE_FLAG = "feature_flag"
    INTERNAL = "internal"
    UNAVAILABLE = "unavailable"


class Severity(enum.StrEnum):
    """The severity of a warning or an error."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"


@dataclass(frozen=True)
class Advice:
    """What a caller can do about a failure.

    Attributes:
        remediation: the sentence.
        recoverable: True if the caller can get past it, by a corrected, a later
            or a newly authenticated call.
        severity: the severity of a failure.
    """

    remediation: str
    recoverable: bool = True
    severity: Severity = Severity.ERROR


HANDLING: Mapping[Category, Advice] = {
    Category.VALIDATION: Advice(
        "The same call would be refused again: first change what the message speaks of."
    ),
    Category.AUTHENTICATION: Advice("Send valid credentials, then call again."),
    Category.AUTHORIZATION: Advice(
        "Do not repeat the call; ask for the permission it needs.", False
    ),
    Category.NOT_FOUND: Advice(
        "Look up which identifiers exist, then call again with one of them."
    ),
    Category.CONFLICT: Advice("Read the current state before deciding whether to call again."),
    Category.RATE_LIMIT: Advice("Wait, then call again."),
    Category.FEATURE_FLAG: Advice(
        "Do not repeat the call; ask for the feature to be enabled.", False
    ),
    Category.INTERNAL: Advice(
        "Try again later; if it fails again, report the request id.", severity=Severity.CRITICAL
    ),
    Category.UNAVAILABLE: Advice("Try again later."),
}

# Least severe first (RFC 5424, as the specification has them in server/utilities/logging).
LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

# The standard codes of failures; projects have further codes.
CODES: Mapping[str, Category] = {
    "VALIDATION_ERROR": Category.VALIDATION,
    "INVALID_FORMAT": Category.VALIDATION,
    "MISSING_REQUIRED": Category.VALIDATION,
    "METHOD_NOT_ALLOWED": Category.VALIDATION,
    "UNAUTHORIZED": Category.AUTHENTICATION,
    "FORBIDDEN": Category.AUTHORIZATION,
    "NOT_FOUND": Category.NOT_FOUND,
    "DUPLICATE_ENTRY": Category.CONFLICT,
    "CONFLICT": Category.CONFLICT,
    "RATE_LIMIT_EXCEEDED": Category.RATE_LIMIT,
    "FEATURE_DISABLED": Category.FEATURE_FLAG,
    "INTERNAL_ERROR": Category.INTERNAL,
    "UNAVAILABLE": Category.UNAVAILABLE,
}

# The end of projects' codes, such as ``SPEC_NOT_FOUND``.
NOT_FOUND_ENDING = "_NOT_FOUND"

# The standard codes of HTTP statuses.
STATUS_CODES: Mapping[int, str] = {
    400: "VALIDATION_ERROR",
    401: "UNAUTHORIZED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    406: "INVALID_FORMAT",
    409: "CONFLICT",
    410: "NOT_FOUND",
    412: "CONFLICT",
    415: "INVALID_FORMAT",
    429: "RATE_LIMIT_EXCEEDED",
    503: "UNAVAILABLE",
}

# The standard code of each code of an ErrorDetail of REST framework and of this package.
CAUSES: Mapping[str, str] = {
    "parse_error": "INVALID_FORMAT",
    "unsupported_media_type": "INVALID_FORMAT",
    "not_acceptable": "INVALID_FORMAT",
    "not_authenticated": "UNAUTHORIZED",
    "authentication_failed": "UNAUTHORIZED",
    "permission_denied": "FORBIDDEN",
    "not_found": "NOT_FOUND",
    "method_not_allowed": "METHOD_NOT_ALLOWED",
    "throttled": "RATE_LIMIT_EXCEEDED",
    "conflict": "CONFLICT",
    "idempotency_key_reused": "CONFLICT",
    "feature_disabled": "FEATURE_DISABLED",
    "service_unavailable": "UNAVAILABLE",
}

# A warning that few calls are left.
APPROACHING = "RATE_LIMIT_APPROACHING"
WARNING_SEVERITIES: Mapping[str, Severity] = {
    "CONTENT_TRUNCATED": Severity.INFO,
    "STALE_CACHE": Severity.WARNING,
    "PARTIAL_FAILURE": Severity.WARNING,
    "DEPRECATED_FIELD": Severity.INFO,
    APPROACHING: Severity.WARNING,
    "FALLBACK_USED": Severity.INFO,
}

# Warnings of these codes, with this severity, are only their sentence.
PLAIN_WARNINGS: Mapping[str, Severity] = {
    "WARNING": Severity.WARNING,
    "UNDESCRIBED_ARGUMENT": Severity.WARNING,
    "READ_ONLY_ARGUMENT": Severity.INFO,
    "UNREAD_ARGUMENT": Severity.INFO,
    "NOTHING_TO_CHANGE": Severity.WARNING,
    "EMPTY_LIST": Severity.INFO,
    "PAGE_SIZE_LIMITED": Severity.INFO,
    "MORE_ROWS": Severity.WARNING,
}


# How to get what a result leaves out, where it is not kept.
LESS = "Ask again for less: filter, or fetch smaller pages."
NOT_AGAIN = (
    "Do not make the call again for the rest: it would make the change again. Another tool reads"
    " what there is now."
)


def standard_code(status: int) -> str:
    """Return the standard code of a failed HTTP status."""
    return STATUS_CODES.get(status, "VALIDATION_ERROR" if status < 500 else "INTERNAL_ERROR")


def screaming_code(code: str) -> str:
    """Return a project's error code in SCREAMING_SNAKE_CASE."""
    words = re.split(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])", code)
    return "_".join(filter(None, words)).upper() or "ERROR"


def category_of_code(code: str, status: int) -> Category:
    """Return the category of an error code, or of the HTTP status for an unknown code."""
    if code.endswith(NOT_FOUND_ENDING):
        return Category.NOT_FOUND
    return CODES.get(code) or CODES[standard_code(status)]


# --- What to do about a failure -------------------------------------------------------------------

# The message names the argument.
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
ANOTHER = HANDLING[Category.VALIDATION].remediation
WHOLE_REMEDIES = {
    "required": "Provide the arguments.",
    "null": "Provide the arguments.",
    "unique": "Use another combination of values; this one is taken.",
}

FILE_REMEDIES = {"max_length": "Shorten the file name.", "empty": "Send a file that is not empty."}
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
    428: NOT_SENT,
    **dict.fromkeys((408, 502, 504), UNKNOWN_EFFECT),
    405: Advice(CODE_REMEDIES["METHOD_NOT_ALLOWED"]),
    406: Advice(
        "Do not repeat the call: the API cannot answer in a form that tools read. Report it.", False
    ),
    410: Advice("It is gone for good: do not ask for it again.", False),
    412: Advice(
        "Read the object again: it has changed since it was read. Then call with its new version."
    ),
    413: Advice("Send less: shorter texts, smaller files or fewer items."),
    415: Advice(
        "Where an argument is a file, send one of a type that is accepted. Otherwise do not"
        " repeat the call: the API does not take what this tool sends."
    ),
    501: Advice("Do not repeat the call: the API does not offer this. Use another tool.", False),
}
# Statuses below 500 for which the advice of the category or the code is used.
BY_CATEGORY = frozenset({400, 401, 403, 404, 405, 409, 422, 429})
ELSEWHERE = (
    "Do not repeat the call: it was not carried out. Use the tool of the place that the message"
    " names, or report it."
)
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


def find_problem_advice(code: str, *, is_whole: bool, is_file: bool) -> str:
    """Return what to do about a problem of one argument, or of all as a whole."""
    if is_whole:
        return WHOLE_REMEDIES.get(code) or PROBLEM_REMEDIES.get(code, ANOTHER)
    if is_file and code in FILE_REMEDIES:
        return FILE_REMEDIES[code]
    return PROBLEM_REMEDIES.get(code, CORRECT)


def describe_wait(seconds: Any) -> str:
    # A view's own context may have anything in its place.
    return f"Wait {seconds} second{'' if seconds == 1 else 's'}"


def find_status_advice(status: int) -> Advice | None:
    known = STATUS_ADVICE.get(status)
    if known is None and 400 <= status < 500 and status not in BY_CATEGORY:
        return UNKNOWN_STATUS
    return known
